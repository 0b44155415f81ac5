// `bmg indexes`: a differing and an obsolete index of a service's database are found and applied.
import { addressesOf, runBmg, type Ran } from '../testkit/bmg';
import { useDatabases, useMesh } from './use-mesh';

const mesh = useMesh();
const db = useDatabases(mesh);

const bmg = (...args: string[]): Promise<Ran> => runBmg(args, addressesOf(mesh.env));

/** The lines of a command that concern the collection of this test. */
const linesOf = ({ out }: Ran): string[] =>
  out.split('\n').filter((line) => line.startsWith('templates.request_claims'));

test('shows and applies a differing and an obsolete index', async () => {
  const claims = db('templates').collection('request_claims');
  await claims.dropIndex('at_1');
  await claims.createIndexes([{ key: { at: 1 }, sparse: true }, { key: { old: 1 } }]);

  const shown = await bmg('indexes', 'show');
  expect([shown.code, shown.err]).toEqual([0, '']);
  const obsolete = 'templates.request_claims  { old: 1 }  obsolete (old_1)';
  expect(linesOf(shown)).toEqual([
    'templates.request_claims  { at: 1 }  different (at_1); sparse is true, declared absent; ' +
      'expireAfterSeconds is absent, declared 86400',
    obsolete,
  ]);

  const applied = await bmg('indexes', 'apply');
  expect([applied.code, applied.err]).toEqual([1, '']);
  expect(linesOf(applied)).toEqual(['templates.request_claims  { at: 1 }  replaced', obsolete]);

  const dropped = await bmg('indexes', 'apply', '--drop-obsolete');
  expect([dropped.code, dropped.err]).toEqual([0, '']);
  expect(linesOf(dropped)).toEqual(['templates.request_claims  { old: 1 }  dropped']);
  expect((await bmg('indexes', 'show')).out).toBe('All indexes are as declared.\n');

  const audited = JSON.parse((await bmg('--json', 'audit', '--action', 'bmg indexes apply')).out);
  expect(audited.records).toMatchObject([
    { outcome: 'succeeded', after: { drop_obsolete: true } },
    { outcome: 'succeeded' },
  ]);
});

test('names a service that does not answer, and still shows the others', async () => {
  const { code, out } = await runBmg(['indexes', 'show'], {
    ...addressesOf(mesh.env),
    TEMPLATES_ADDR: '127.0.0.1:9',
  });
  expect(code).toBe(1);
  expect(out).toMatch(/^templates  does not answer at 127\.0\.0\.1:9: /);
});
