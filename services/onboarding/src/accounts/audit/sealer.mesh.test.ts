// The chain of the audit log on a real database: what is sealed, what a check finds, what is
// exported.
import { text } from 'node:stream/consumers';
import { useLocalServers } from '../../../../common/test/local-servers';
import { anAuditEntry } from '../../../test/audit-entry';
import { useWorld } from '../../../test/world';
import type { Config } from '../../config';
import type { Dependencies } from '../../dependencies';
import { checkChain, createSealer, seal, send } from './sealer';
import { AUDIT_CHAIN, AUDIT_LOG, type AuditEntry, type Link } from './store';

const world = useWorld();
let deps: Dependencies;

beforeEach(async () => {
  deps = { ...world.deps, settings: {} as Config };
  await seal(deps);
});

const entries = () => world.mongo.db.collection<AuditEntry>(AUDIT_LOG);

let made = 0;
async function store(given: Partial<AuditEntry> = {}): Promise<AuditEntry> {
  const entry = anAuditEntry(world.deps.now(), { _id: `aud_${(made += 1)}`, ...given });
  await world.deps.auditLog.insert(entry);
  return entry;
}
const check = () => checkChain(deps, Infinity);
const problems = async () =>
  (await check()).faults.map(({ record_id, problem }) => `${record_id}: ${problem}`);
async function sealLater(seconds = 180): Promise<void> {
  world.passTime(seconds);
  while (await seal(deps));
}

test('seals each record once, two minutes after its outcome', async () => {
  await store();
  await sealLater(60);
  expect(await check()).toMatchObject({ links: 1, records: 0 });
  await sealLater(120);
  await store({ outcome: 'unknown', ended_at: null });
  await sealLater();
  expect(await check()).toMatchObject({ records: 1 });
  await sealLater(3_600);
  expect(await check()).toMatchObject({ links: 3, records: 2, faults: [], newest: { number: 3 } });
});

test('seals more records than a link has, also by two replicas at once', async () => {
  for (let at = 0; at < 250; at += 1) {
    await store({ ended_at: new Date(world.deps.now().getTime() + at) });
  }
  world.passTime(180);
  const both = async (): Promise<boolean> =>
    (await Promise.all([seal(deps), seal(deps)])).includes(true);
  while (await both());
  expect(await check()).toMatchObject({ records: 250, links: 3, faults: [] });
});

test('finds what was changed, removed or added in the database', async () => {
  const [changed, removed] = [await store(), await store()];
  await sealLater();
  const late = await store({ ended_at: changed.ended_at });
  await entries().updateOne({ _id: changed._id }, { $set: { 'actor.id': 'per_2' } });
  await entries().deleteOne({ _id: removed._id });
  expect(await problems()).toEqual([
    `${changed._id}: was changed`,
    `${removed._id}: was removed`,
    `${late._id}: was added after its time`,
  ]);
});

test('finds links that were changed or removed', async () => {
  for (let at = 0; at < 3; at += 1) {
    await store();
    await sealLater();
  }
  const links = world.mongo.db.collection<Link>(AUDIT_CHAIN);
  await links.updateOne({ _id: 3 }, { $set: { records: [] } });
  expect((await check()).faults).toContainEqual({ link: 3, problem: 'the link was changed' });
  await links.deleteOne({ _id: 3 });
  expect((await check()).faults).toEqual([{ link: 3, problem: 'the link is missing' }]);
});

test('fits the records of a person who was erased, in whatever they did or what was done to them', async () => {
  const own = await store();
  const of_them = await store({
    actor: { type: 'person', id: 'per_2', name: 'grace@example.com' },
    target_ids: ['per_1'],
    before: { email: 'ada@example.com' },
  });
  const foreign = await store({ partner_id: 'p2' });
  await sealLater();
  expect(await world.deps.auditLog.erase('p1', 'per_1')).toBe(2);
  const found = await world.deps.auditLog.byIds([own._id, of_them._id, foreign._id]);
  expect(JSON.stringify(found).match(/ada@example.com/g)).toHaveLength(1);
  expect(await problems()).toEqual([]);
});

describe('the destination of the operator', () => {
  const { http } = useLocalServers();
  let status = 200;
  const got: Array<{ token: string | undefined; lines: Array<Record<string, unknown>> }> = [];

  beforeEach(async () => {
    got.length = 0;
    const url = await http((request, answer) => {
      void text(request).then((body) => {
        const lines = body.trim().split('\n');
        got.push({
          token: request.headers.authorization,
          lines: lines.map((one) => JSON.parse(one)),
        });
        answer.writeHead(status).end();
      });
    });
    const destination = { AUDIT_EXPORT_URL: `${url}/audit`, AUDIT_EXPORT_TOKEN: 't0' };
    deps = { ...world.deps, settings: { ...deps.settings, ...destination } };
  });

  test('needs a token', () => {
    const AUDIT_EXPORT_URL = 'https://siem.example.com/audit';
    const settings = { AUDIT_EXPORT_URL } as Config;
    expect(() => createSealer({ ...deps, settings })).toThrow('AUDIT_EXPORT_TOKEN is required');
  });

  test('gets each link with its records, once it answers', async () => {
    const entry = await store();
    await sealLater();
    status = 503;
    await expect(send(deps)).rejects.toThrow('answers 503');
    expect((await check()).unsent).toBe(1);
    status = 200;
    await send(deps);
    await send(deps);
    expect(got).toHaveLength(2);
    const [link, record] = got[1]?.lines ?? [];
    expect(got[1]?.token).toBe('Bearer t0');
    expect(link).toMatchObject({ type: 'link', number: 2, records: [{ id: entry._id }] });
    expect(record).toMatchObject({ type: 'record', id: entry._id, partner_id: 'p1' });
    expect(JSON.stringify(got)).not.toContain('"salt"');
    expect((await check()).unsent).toBe(0);
  });
});
