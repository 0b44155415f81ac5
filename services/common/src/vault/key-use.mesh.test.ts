// The count of data keys under a key of the older form, over replicas and restarts.
import { emptyDatabase, testDatabase } from '../../../../test/testkit/database';
import { createLogger, metricsRegister } from '../telemetry';
import { createKeyUse, KEY_USES, WARN_ABOVE } from './key-use';
import { createVault } from './vault';

const OLDER = 'older:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const DERIVED = 'derived:hkdf:Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=';
const PLAIN = Buffer.from('a secret');

const db = testDatabase();
beforeEach(async () => {
  await emptyDatabase(db);
  metricsRegister.resetMetrics();
});

const warnings: unknown[] = [];
const log = createLogger('test');
jest.spyOn(log, 'warn').mockImplementation((line: unknown) => void warnings.push(line));

/** A replica that seals this many records, and stops. */
async function sealed(keyring: string, records: number): Promise<void> {
  const vault = createVault(keyring);
  const use = createKeyUse({ db, ring: 'TEST_KEYRING', vault, log });
  await use.start(new AbortController().signal);
  for (let at = 0; at < records; at += 1) vault.sealBytes(`record/${at}`, PLAIN);
  await use.stop();
}

const stored = async (): Promise<unknown> =>
  (await db.collection<{ _id: string }>(KEY_USES).find().toArray()).map(({ _id, ...rest }) => [
    _id,
    rest,
  ]);
const exported = async (): Promise<unknown> =>
  (await metricsRegister.getSingleMetric('keyring_wrapped_data_keys')?.get())?.values.map(
    ({ labels, value }) => [labels, value],
  );

test('adds up the data keys that replicas wrapped before and after restarts', async () => {
  await Promise.all([sealed(OLDER, 3), sealed(OLDER, 4)]);
  await sealed(OLDER, 5);
  expect(await stored()).toEqual([['TEST_KEYRING/older', { data_keys: 12 }]]);
  expect(await exported()).toEqual([[{ ring: 'TEST_KEYRING', key_id: 'older' }, 12]]);
});

test('counts records that are wrapped again under the newest key', async () => {
  const vault = createVault(`${OLDER},${DERIVED}`);
  const record = createVault(DERIVED).seal('record', 'a secret');
  vault.rewrap('record', record);
  expect(vault.wrapped()).toBe(1);
});

test('a key that derives wrapping keys has no limit, and no count', async () => {
  await sealed(`${DERIVED},${OLDER}`, 3);
  expect([await stored(), await exported()]).toEqual([[], []]);
});

test('warns long before the limit of 2^32', async () => {
  expect(WARN_ABOVE).toBeLessThanOrEqual(2 ** 32 / 4);
  await db
    .collection<{ _id: string; data_keys: number }>(KEY_USES)
    .insertOne({ _id: 'TEST_KEYRING/older', data_keys: WARN_ABOVE - 1 });
  await sealed(OLDER, 1);
  expect(warnings).toEqual([]);
  await sealed(OLDER, 1);
  expect(warnings).toEqual([{ ring: 'TEST_KEYRING', key_id: 'older', data_keys: WARN_ABOVE + 1 }]);
});
