import { compile } from '../parts/schema';
import { analytics } from './rows';
import type { Endpoint, Input } from '../endpoint';

const [row] = analytics as Endpoint[];
const check = compile(row?.query ?? {}, 'query');

test.each([
  [{}, 7],
  [{ days: '1' }, 1],
  [{ days: '90' }, 90],
  [{ days: '400' }, 90],
])('%j requests %i days', (query, days) => {
  expect(check(query)).toEqual({ days });
});

test.each(['', '0', '-1', '1.5', 'week', '1e2'])('days=%s is INVALID_FIELD', (days) => {
  expect(() => check({ days })).toThrow(
    expect.objectContaining({
      code: 'INVALID_FIELD',
      details: expect.objectContaining({ field: 'days' }),
    }),
  );
});

test('answers the contract’s keys', () => {
  const point = { start: 1, end: 2, sent: 3, delivered: 2, read: 1 };
  const reply = {
    sent: 3,
    delivered: 2,
    read: 1,
    data_points: [point],
    daily_logs: [{ date: '2026-09-21', sent: 3, failed: 0 }],
  };
  const input = { target: { waba_id: '900000000000001' }, query: { days: 7 } } as unknown as Input;
  expect(row?.reply?.(reply, input)).toEqual({
    waba_id: '900000000000001',
    period_days: 7,
    meta_analytics: { sent: 3, delivered: 2, read: 1, data_points: [point] },
    daily_logs: [{ date: '2026-09-21', sent: 3, failed: 0 }],
  });
});
