import fc from 'fast-check';
import { bucketOf, isDifferent, kindOf, quantileOf, type Answer } from './answers';

const answer = (http_status: number | null, error: string | null = null): Answer => ({
  http_status,
  error,
  duration_ms: 1,
});

test.each<[Answer, string]>([
  [answer(200), '2xx'],
  [answer(204), '2xx'],
  [answer(301, 'HTTP 301'), '3xx'],
  [answer(429, 'HTTP 429'), '4xx'],
  [answer(503, 'HTTP 503'), '5xx'],
  [answer(999, 'HTTP 999'), 'other'],
  [answer(null, 'timeout'), 'timeout'],
  [answer(null, 'partner is suspended'), 'failed'],
  [answer(null), 'failed'],
])('%j counts as %s', (given, kind) => {
  expect(kindOf(given)).toBe(kind);
});

test('answers of one kind are the same answer', () => {
  const of = { event_id: 'evt_1', event: 'message.received', at: new Date() };
  expect(isDifferent({ ...of, first: answer(200), shadow: answer(202) })).toBe(false);
  expect(isDifferent({ ...of, first: answer(200), shadow: answer(404, 'HTTP 404') })).toBe(true);
  expect(isDifferent({ ...of, first: answer(null, 'dns'), shadow: answer(null, 'reset') })).toBe(
    true,
  );
});

test('no time has been counted yet', () => {
  expect(quantileOf({}, 0.5)).toBeUndefined();
});

test('a quantile is never too short, and at most a tenth too long', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1 }),
      fc.constantFrom(0.5, 0.99),
      (times, share) => {
        const counts: Record<string, number> = {};
        for (const time of times) counts[bucketOf(time)] = (counts[bucketOf(time)] ?? 0) + 1;
        const sorted = [...times].sort((one, other) => one - other);
        const exact = sorted[Math.ceil(share * times.length) - 1] as number;
        const found = quantileOf(counts, share) as number;
        expect(found).toBeGreaterThanOrEqual(exact - 0.5);
        expect(found).toBeLessThanOrEqual(exact * 1.1 + 0.5);
      },
    ),
  );
});
