import type { Logger } from '@bmg/common/telemetry';
import { createRecordReads, UNITS_MAX, type RecordReads } from './record-reads';

const log = { warn: jest.fn() } as unknown as Logger;
const FAST = 1_000_000;
const refusal = { code: 'RATE_LIMIT_EXCEEDED', http: 429, retry_after_s: 1 };

/** Reads that stay open until the test ends them. */
function holding(reads: RecordReads) {
  const ends: Array<() => void> = [];
  const hold = (partner_id: string, kind: Parameters<RecordReads['run']>[1]) =>
    reads.run(partner_id, kind, () => new Promise<void>((resolve) => ends.push(resolve)));
  return { hold, end: () => ends.splice(0).forEach((resolve) => resolve()) };
}

test('refuses the fifth search of a partner, and none of another one', async () => {
  const { hold, end } = holding(createRecordReads(log, FAST));
  const held = Array.from({ length: 4 }, () => hold('par_1', 'search'));
  await expect(hold('par_1', 'search')).rejects.toMatchObject(refusal);
  await expect(hold('par_1', 'page')).rejects.toMatchObject(refusal);
  held.push(hold('par_2', 'search'));
  await new Promise(setImmediate);
  end();
  await Promise.all(held);
});

test('refuses a read once all partners together use up the pool', async () => {
  const { hold, end } = holding(createRecordReads(log, FAST));
  const held = Array.from({ length: UNITS_MAX }, (_one, at) => hold(`par_${at % 8}`, 'page'));
  await expect(hold('par_new', 'page')).rejects.toMatchObject(refusal);
  await new Promise(setImmediate);
  end();
  await Promise.all(held);
  const again = hold('par_new', 'page');
  await new Promise(setImmediate);
  end();
  await again;
});

test('gives the units of failed reads back, and charges all of them', async () => {
  const reads = createRecordReads(log, 200);
  const failing = () => reads.run('par_1', 'search', () => Promise.reject(new Error('a defect')));
  const started = performance.now();
  for (let count = 0; count < 10; count += 1) await expect(failing()).rejects.toThrow('a defect');
  // 180 units before the last, of which half a second's are free at once.
  expect(performance.now() - started).toBeGreaterThan(300);
});

test('charges a search by the records that it examined, and delays no other partner', async () => {
  const reads = createRecordReads(log, 100);
  const started = performance.now();
  for (let count = 0; count < 30; count += 1) {
    await reads.run('par_1', 'search', async (looked_at) => looked_at(500));
  }
  // 30 units are within the 50 of half a second; at 20 units each the searches would take six
  // seconds.
  expect(performance.now() - started).toBeLessThan(3_000);
  await reads.run('par_2', 'search', async (looked_at) => looked_at(100_000));
  const asked = performance.now();
  const waited = (partner_id: string) =>
    reads.run(partner_id, 'page', async () => performance.now() - asked);
  const [own, other] = await Promise.all([waited('par_2'), waited('par_3')]);
  // 100 units, of which 50 are free at once.
  expect(own).toBeGreaterThan(300);
  expect(other).toBeLessThan(300);
});
