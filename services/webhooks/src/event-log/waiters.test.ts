// Places for requests that wait: bounded for each partner, taken before anything is read, and given
// back.
import { createLogger } from '@bmg/common/telemetry';
import { createWaiters, WAITING_OF_PARTNER_MAX, type Waiters } from './waiters';
import type { Grown } from './store/buckets';

let looked: Array<Map<string, number>>;
let grown: Grown[];
let waiters: Waiters;

const aBucket = (partner_id: string, first: number, last = first, event = 'a'): Grown => ({
  partner_id,
  first,
  last,
  events: Array.from({ length: last - first + 1 }, (_one, at) => ({
    seq: first + at,
    event,
    waba_id: '900',
  })),
});

beforeEach(() => {
  looked = [];
  grown = [];
  const store = {
    grown: async (lowest: ReadonlyMap<string, number>) => {
      looked.push(new Map(lowest));
      return grown.filter(({ partner_id, first }) => lowest.get(partner_id) === first - 1);
    },
  };
  waiters = createWaiters(store, createLogger('test'));
});
afterEach(() => waiters.stop());

test('one partner has a bounded number of places, which are free again once left', () => {
  const places = Array.from({ length: WAITING_OF_PARTNER_MAX }, () => waiters.enter('one'));
  expect(() => waiters.enter('one')).toThrow(
    expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED' }),
  );
  expect(() => waiters.enter('other')).not.toThrow();
  places[0]?.leave();
  expect(() => waiters.enter('one')).not.toThrow();
});

test('a place without a wait causes no query', async () => {
  jest.useFakeTimers();
  waiters.enter('one');
  await jest.advanceTimersByTimeAsync(5_000);
  jest.useRealTimers();
  expect(looked).toEqual([]);
});

test('a request is woken by an event after its position, and not by an earlier one', async () => {
  const place = waiters.enter('one');
  let woken = false;
  const waiting = place.wait(7, 60_000).then((result) => {
    woken = true;
    return result;
  });
  waiters.grown(aBucket('one', 7));
  waiters.grown(aBucket('other', 8));
  await new Promise(setImmediate);
  expect(woken).toBe(false);
  waiters.grown(aBucket('one', 8));
  expect(await waiting).toBe(true);
});

test('a stop ends the requests that wait', async () => {
  const waiting = waiters.enter('one').wait(7, 60_000);
  await waiters.stop();
  expect(await waiting).toBe(false);
});

test('one query looks for the events of all waiters', async () => {
  jest.useFakeTimers();
  grown = [aBucket('one', 6, 8), aBucket('two', 4)];
  const waits = [
    waiters.enter('one').wait(7, 60_000),
    waiters.enter('one').wait(5, 60_000),
    waiters.enter('two').wait(3, 60_000),
  ];
  await jest.advanceTimersByTimeAsync(600);
  jest.useRealTimers();
  expect(await Promise.all(waits)).toEqual([true, true, true]);
  expect(looked).toEqual([
    new Map([
      ['one', 5],
      ['two', 3],
    ]),
  ]);
});

test('events that a filter does not pass wake no waiter, and are passed over without a read', async () => {
  const place = waiters.enter('one', { events: ['b'] });
  let woken = false;
  const waiting = place.wait(7, 60_000).then(() => void (woken = true));
  waiters.grown(aBucket('one', 8, 9));
  waiters.grown(aBucket('one', 10));
  await new Promise(setImmediate);
  expect([woken, place.passed()]).toEqual([false, 10]);
  waiters.grown(aBucket('one', 11, 11, 'b'));
  await waiting;
  expect(place.passed()).toBe(10);
});

test('a bucket of another replica that a filter does not pass is followed by the next one', async () => {
  jest.useFakeTimers();
  grown = [aBucket('one', 8, 9), aBucket('one', 10), aBucket('one', 11, 11, 'b')];
  const place = waiters.enter('one', { events: ['b'] });
  const waiting = place.wait(7, 60_000);
  await jest.advanceTimersByTimeAsync(600);
  jest.useRealTimers();
  expect(await waiting).toBe(true);
  expect([place.passed(), looked.length]).toEqual([10, 3]);
});

test('wakes a waiter after a gap, whose events are unknown', async () => {
  const place = waiters.enter('one', { events: ['b'] });
  const waiting = place.wait(7, 60_000);
  waiters.grown(aBucket('one', 9));
  expect(await waiting).toBe(true);
  expect(place.passed()).toBe(7);
});
