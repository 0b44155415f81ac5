// A test file finds the realm of its worker as it was, whatever the file before has left in it.
import { join } from 'node:path';

interface FileEnvironment {
  global: unknown;
  teardown(): Promise<void>;
}
const OneRealmEnvironment =
  jest.requireActual<new (config: object, context: { testPath: string }) => FileEnvironment>(
    './one-realm-environment',
  );

const config = { projectConfig: { fakeTimers: {}, testEnvironmentOptions: {} } };

test('takes back globals, spies, the environment and properties of the process', async () => {
  const file = new OneRealmEnvironment(config, { testPath: __filename });
  const { exit, env } = process;
  Object.assign(globalThis, { left: 1, fetch: undefined });
  Object.assign(process, { exit: undefined, env: { LEFT: '1' } });
  Object.assign(performance, { now: () => 1_000 });
  await file.teardown();
  expect({ left: 'left' in globalThis, fetch: typeof fetch }).toEqual({
    left: false,
    fetch: 'function',
  });
  expect(process.exit === exit && process.env === env).toBe(true);
  expect(Object.hasOwn(performance, 'now')).toBe(false);
});

test('gives a file that stops the clock a realm of its own', () => {
  const testPath = join(__dirname, '../../services/common/src/directory/refresher.test.ts');
  const file = new OneRealmEnvironment(config, { testPath });
  expect(file.global).not.toBe(globalThis);
});
