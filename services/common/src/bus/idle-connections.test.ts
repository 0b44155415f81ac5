import RequestQueue from 'kafkajs/src/network/requestQueue';
import './idle-connections';

const THROTTLE_MS = 500;

let sent: number[];
let queue: RequestQueue;

beforeEach(() => {
  jest.useFakeTimers();
  sent = [];
  queue = new RequestQueue({
    maxInFlightRequests: 1,
    requestTimeout: 10_000,
    enforceRequestTimeout: false,
    clientId: 'test',
    broker: 'broker',
    logger: { debug: () => undefined, warn: () => undefined },
    isConnected: () => true,
  });
});
afterEach(() => jest.useRealTimers());

const push = (correlationId: number): void =>
  queue.push({
    entry: { correlationId, resolve: () => undefined, reject: () => undefined } as never,
    expectResponse: true,
    sendRequest: () => sent.push(correlationId),
  });
const answer = (correlationId: number): void =>
  queue.fulfillRequest({ correlationId, payload: Buffer.alloc(0), size: 0 });

test('an idle connection has nothing to wake up for', () => {
  push(1);
  answer(1);
  expect(jest.getTimerCount()).toBe(0);
});

test('a request that waits for another is sent at its answer', () => {
  push(1);
  push(2);
  expect(sent).toEqual([1]);
  answer(1);
  expect(sent).toEqual([1, 2]);
  answer(2);
  jest.advanceTimersByTime(THROTTLE_MS);
  expect(jest.getTimerCount()).toBe(0);
});

test('a request that waits for the end of a throttle is sent then', () => {
  queue.maybeThrottle(THROTTLE_MS);
  push(1);
  jest.advanceTimersByTime(THROTTLE_MS - 1);
  expect(sent).toEqual([]);
  jest.advanceTimersByTime(20);
  expect(sent).toEqual([1]);
  answer(1);
  jest.advanceTimersByTime(THROTTLE_MS);
  expect(jest.getTimerCount()).toBe(0);
});
