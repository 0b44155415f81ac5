import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../testkit/eventually';
import { startEmulator, type Emulator } from './index';
import { apiOf, ONE } from './test-support';

let folder: string;
let open: Emulator[] = [];

const start = async (): Promise<Emulator> => {
  const emulator = await startEmulator({ port: 0, data_dir: folder });
  open.push(emulator);
  return emulator;
};
const subscribedApps = async (emulator: Emulator): Promise<unknown[]> =>
  (await apiOf(emulator, ONE.token)('GET', `/${ONE.waba}/subscribed_apps`)).body.data;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-state-'));
});
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
  rmSync(folder, { recursive: true, force: true });
});

test('still knows subscriptions and accounts after a restart', async () => {
  const first = await start();
  await apiOf(first, ONE.token)('POST', `/${ONE.waba}/subscribed_apps`);
  const made = await first.createAccount({ name: 'Mine', numbers: [{}] });
  await first.close();

  const second = await start();
  expect(await subscribedApps(second)).toHaveLength(1);
  const { accounts } = (await second.state()) as { accounts: Array<{ waba_id: string }> };
  expect(accounts.map(({ waba_id }) => waba_id)).toContain(made.waba_id);
});

test('keeps a change when the process is killed', async () => {
  const killed = await start();
  await apiOf(killed, ONE.token)('POST', `/${ONE.waba}/subscribed_apps`);
  await eventually(() => existsSync(join(folder, 'state')));
  const next = await start();
  expect(await subscribedApps(next)).toHaveLength(1);
});

test('starts from the seed when the file is damaged', async () => {
  writeFileSync(join(folder, 'state'), 'no state');
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const emulator = await start();
  expect(written).toHaveBeenCalledWith(expect.stringContaining('cannot be read'));
  written.mockRestore();
  expect(await subscribedApps(emulator)).toEqual([]);
});
