import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { operationLimit, WORK_CLASSES } from './work-classes';

const ROOT = path.join(__dirname, '..', '..', '..', '..');

test.each(Object.entries(WORK_CLASSES))(
  'the server ends an operation before its socket does: %s',
  (_name, { socketTimeoutMS }) => {
    expect(operationLimit(socketTimeoutMS)).toBeGreaterThan(0);
    expect(operationLimit(socketTimeoutMS)).toBeLessThan(socketTimeoutMS);
  },
);

/** `file: limit` of each time limit that an operation names; background work names none. */
function namedLimits(): Array<[where: string, limit_ms: number]> {
  const files = globSync('services/*/src/**/*.ts', { cwd: ROOT });
  return files
    .filter((file) => !/\.test\.ts$|common\/src\/mongo\//.test(file))
    .flatMap((file) => {
      const code = readFileSync(path.join(ROOT, file), 'utf8');
      return [...code.matchAll(/maxTimeMS(?:: |\()([\w.]+)/g)].map(([, named = '']) => {
        const [, value] = new RegExp(`const ${named} = ([\\d_]+);`).exec(code) ?? [];
        const limit_ms = named === 'LONG_CURSOR.maxTimeMS' ? 0 : value?.replaceAll('_', '');
        return [`${file}: ${named}`, Number(limit_ms)] as [string, number];
      });
    });
}

test('no operation names a time limit above that of its class', () => {
  const limits = namedLimits();
  expect(limits.length).toBeGreaterThan(4);
  const most = operationLimit(WORK_CLASSES.interactive.socketTimeoutMS);
  expect(limits.filter(([, limit_ms]) => !(limit_ms <= most))).toEqual([]);
});
