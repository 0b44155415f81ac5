// Places for requests that wait: bounded for each partner, taken before anything is read, and given back.
import { createLogger } from '@bmg/common/telemetry';
import { createWaiters, WAITING_OF_PARTNER_MAX, type Waiters } from './waiters';

let looked: Array<Map<string, number>>;
let grown: string[];
let waiters: Waiters;

beforeEach(() => {
  looked = [];
  grown = [];
  const store = {
    grown: async (lowest: ReadonlyMap<string, number>) => {
      looked.push(new Map(lowest));
      return grown;
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

test('a place alone causes no query', async () => {
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
  waiters.grown('one', 7);
  waiters.grown('other', 8);
  await new Promise(setImmediate);
  expect(woken).toBe(false);
  waiters.grown('one', 8);
  expect(await waiting).toBe(true);
});

test('one query looks for the events of all waiters', async () => {
  jest.useFakeTimers();
  grown = ['one', 'two'];
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
