// The memory of reads: bounded in all and for each partner, held until the reply is written.
import { createLogger } from '@bmg/common/telemetry';
import { createReadBudget, READ_BYTES_MAX, READ_SHARE_BYTES, type ReadBudget } from './read-budget';

const MIB = 1024 * 1024;
const log = createLogger('test');
let budget: ReadBudget;
beforeEach(() => {
  jest.useFakeTimers();
  budget = createReadBudget(log);
});
afterEach(() => jest.useRealTimers());

/** Reads of 2 MiB whose replies are not read; `written` ends each. */
function unreadCall(partner_id: string) {
  const written = new AbortController();
  const read = budget.hold(partner_id, { signal: written.signal }, async (room) => {
    await room.reserve(2 * MIB);
    room.took(2 * MIB, 0);
  });
  const ended = read.then(
    () => 'ok',
    ({ code }: { code: string }) => code,
  );
  return { written, ended };
}

const unreadCalls = (partner_id: string, count: number) =>
  Array.from({ length: count }, () => unreadCall(partner_id));
const outcomes = async (calls: Array<{ ended: Promise<string> }>) => {
  await jest.advanceTimersByTimeAsync(3_000);
  const counts = new Map<string, number>();
  for (const outcome of await Promise.all(calls.map(({ ended }) => ended))) {
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
};

test('600 replies that are not read hold no more than the share of their partner', async () => {
  const share = READ_SHARE_BYTES / (2 * MIB);
  const calls = unreadCalls('one', 600);
  expect(await outcomes(calls)).toEqual({ ok: share, RATE_LIMIT_EXCEEDED: 600 - share });
  expect(await outcomes([unreadCall('other')])).toEqual({ ok: 1 });
});

test('all partners together hold no more than the budget', async () => {
  const max = READ_BYTES_MAX / (2 * MIB);
  const calls = Array.from({ length: 8 }, (_one, at) => unreadCalls(`ptn_${at}`, 4)).flat();
  expect(await outcomes(calls)).toEqual({ ok: max, SERVICE_UNAVAILABLE: 32 - max });
});

test('a read waits for the reply of another to be written, in order of arrival', async () => {
  const share = READ_SHARE_BYTES / (2 * MIB);
  const [first, ...others] = unreadCalls('one', share);
  const waiting = unreadCall('one');
  await jest.advanceTimersByTimeAsync(1_000);
  first?.written.abort();
  expect(await outcomes([waiting, ...others])).toEqual({ ok: share });
});

test('a read that took less than it reserved, or failed, gives back the rest', async () => {
  const small = Array.from({ length: 30 }, () =>
    budget.hold('one', { signal: new AbortController().signal }, async (room) => {
      await room.reserve(2 * MIB);
      room.took(1_000);
    }),
  );
  await Promise.all(small);
  const failed = budget.hold('one', {}, async (room) => {
    await room.reserve(READ_SHARE_BYTES - MIB);
    throw new Error('no database');
  });
  const rejected = expect(failed).rejects.toThrow('no database');
  await jest.advanceTimersByTimeAsync(100);
  await rejected;
  expect(await outcomes(unreadCalls('one', 3))).toEqual({ ok: 3 });
});

test('a partner reads at a bounded rate', async () => {
  const read = () =>
    budget.hold('one', {}, async (room) => {
      await room.reserve(MIB);
      room.took(MIB);
    });
  let done = 0;
  const reading = (async () => {
    for (; done < 60; done += 1) await read();
  })();
  await jest.advanceTimersByTimeAsync(2_000);
  const after_two_seconds = done;
  await jest.advanceTimersByTimeAsync(5_000);
  await reading;
  // 16 MiB a second, and half a second's worth at once.
  expect(after_two_seconds).toBeGreaterThan(30);
  expect(after_two_seconds).toBeLessThan(45);
});
