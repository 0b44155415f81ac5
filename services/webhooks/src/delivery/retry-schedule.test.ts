import {
  deliveryMachine,
  isDelivered,
  nextDelayMs,
  parseRetryAfter,
  RETRY_DELAYS_MS,
} from './retry-schedule';

const NO_JITTER = 0;
const ALL_JITTER = 1;

test('delays are 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 3 h, 6 h, 12 h, 24 h, then it is given up', () => {
  const delays = RETRY_DELAYS_MS.map((_unused, index) => nextDelayMs(index + 1, {}, NO_JITTER));
  const seconds = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400];
  expect(delays).toEqual(seconds.map((one) => one * 1_000));
  expect(nextDelayMs(11, {}, NO_JITTER)).toBeUndefined();
});

test('each delay has up to 20 % jitter, never less than the delay', () => {
  for (const [index, delay] of RETRY_DELAYS_MS.entries()) {
    expect(nextDelayMs(index + 1, {}, ALL_JITTER)).toBeCloseTo(delay * 1.2, 3);
    const drawn = nextDelayMs(index + 1, {}) as number;
    expect(drawn).toBeGreaterThanOrEqual(delay);
    expect(drawn).toBeLessThanOrEqual(delay * 1.2);
  }
});

test('any 2xx counts as delivered, a redirect does not', () => {
  expect([200, 201, 204, 299].map((http_status) => isDelivered({ http_status }))).toEqual(
    Array(4).fill(true),
  );
  for (const http_status of [undefined, 100, 199, 300, 301, 307, 308, 400, 410, 500]) {
    expect(isDelivered({ http_status })).toBe(false);
  }
});

test('410 gives up at once, and so does an event that a destination will never take', () => {
  expect(nextDelayMs(1, { http_status: 410 }, NO_JITTER)).toBeUndefined();
  expect(nextDelayMs(1, { is_permanent: true }, NO_JITTER)).toBeUndefined();
});

test('Retry-After lengthens the delay, up to an hour, and never shortens it', () => {
  const after = (retry_after_ms: number) =>
    nextDelayMs(1, { http_status: 503, retry_after_ms }, NO_JITTER);
  expect(after(60_000)).toBe(60_000);
  expect(after(1_000)).toBe(5_000);
  expect(after(86_400_000)).toBe(3_600_000);
});

test('reads Retry-After as seconds or as a date, and ignores an invalid one', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(parseRetryAfter('120', now)).toBe(120_000);
  expect(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
  expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  expect(parseRetryAfter('-5', now)).toBe(0);
  expect(parseRetryAfter('soon', now)).toBeUndefined();
  expect(parseRetryAfter(undefined, now)).toBeUndefined();
});

test('a failed delivery can be requeued, and no other event leaves that state', () => {
  expect(deliveryMachine.events.filter((event) => deliveryMachine.allows('failed', event))).toEqual(
    ['requeue'],
  );
  for (const event of deliveryMachine.events) {
    expect(deliveryMachine.allows('retrying', event)).toBe(true);
  }
});
