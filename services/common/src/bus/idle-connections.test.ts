import RequestQueue from 'kafkajs/src/network/requestQueue';
import './kafkajs-fixes';

const THROTTLE_MS = 500;

const TIMEOUT_MS = 10_000;

let sent: number[];
let rejected: unknown[];
let connected: boolean;
let queue: RequestQueue;

const create = (enforceRequestTimeout = false): RequestQueue =>
  new RequestQueue({
    maxInFlightRequests: 1,
    requestTimeout: TIMEOUT_MS,
    enforceRequestTimeout,
    clientId: 'test',
    broker: 'broker',
    logger: { debug: () => undefined, warn: () => undefined },
    isConnected: () => connected,
  });

beforeEach(() => {
  jest.useFakeTimers();
  sent = [];
  rejected = [];
  connected = true;
  queue = create();
});
afterEach(() => jest.useRealTimers());

const push = (correlationId: number): void =>
  queue.push({
    entry: {
      correlationId,
      resolve: () => undefined,
      reject: (error: unknown) => rejected.push(error),
    } as never,
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

test('a request without an answer times out, and the next one is sent', () => {
  queue = create(true);
  queue.scheduleRequestTimeoutCheck();
  push(1);
  push(2);
  jest.advanceTimersByTime(TIMEOUT_MS - 1);
  expect(rejected).toEqual([]);
  jest.advanceTimersByTime(2_000);
  expect(rejected).toEqual([expect.objectContaining({ name: 'KafkaJSRequestTimeoutError' })]);
  expect(sent).toEqual([1, 2]);
  queue.destroy();
});

test('all connections share one timer, which ends with the last of them', () => {
  const queues = [create(true), create(true), create(true)];
  for (const one of queues) one.scheduleRequestTimeoutCheck();
  expect(jest.getTimerCount()).toBe(1);
  queues[0]?.destroy();
  jest.advanceTimersByTime(1_000);
  expect(jest.getTimerCount()).toBe(1);
  // The others lose their connections.
  connected = false;
  jest.advanceTimersByTime(1_000);
  expect(jest.getTimerCount()).toBe(0);
});
