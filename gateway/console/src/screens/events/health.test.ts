import type { LoggedEvent } from '../../api/types';
import { healthOf, seriesOf } from './health';

const START = Date.parse('2026-11-22T12:00:00Z');
const anEvent = (
  at_s: number,
  status: string,
  last_duration_ms: number | null = null,
): LoggedEvent =>
  ({
    logged_at: new Date(START + at_s * 1_000).toISOString(),
    delivery: { status, last_duration_ms },
  }) as LoggedEvent;

test('counts accepted events and takes the median answer time, by interval', () => {
  const events = [
    anEvent(400, 'failed'),
    anEvent(400, 'delivered', 900),
    anEvent(0, 'delivered', 10),
    anEvent(0, 'delivered', 30),
    anEvent(0, 'delivered', 20),
  ];
  const health = healthOf(events);
  expect(health).toMatchObject({ accepted: 80, answer_ms: 30 });
  expect(health.points).toMatchObject([
    { at_s: START / 1_000, accepted: 100, answer_ms: 20 },
    { accepted: 50, answer_ms: 900 },
  ]);
});

test('leaves out events that wait or were not for the receiver', () => {
  const health = healthOf([anEvent(0, 'pending'), anEvent(0, 'dropped')]);
  expect(health).toEqual({ points: [], accepted: null, answer_ms: null });
});

test('makes few points of many events', () => {
  const events = Array.from({ length: 2_000 }, (_, at) => anEvent(at, 'delivered', 5));
  expect(healthOf(events).points.length).toBeLessThanOrEqual(40);
});

test('leaves a gap in the lines where no event had an outcome', () => {
  const { points } = healthOf([anEvent(0, 'delivered', 10), anEvent(400, 'delivered', 20)]);
  const { times_ms, accepted, answer_ms } = seriesOf(points);
  expect(accepted).toEqual([100, null, 100]);
  expect(answer_ms).toEqual([10, null, 20]);
  expect(times_ms[1]).toBeGreaterThan(times_ms[0] as number);
  expect(times_ms[1]).toBeLessThan(times_ms[2] as number);
});

test('joins intervals that follow each other', () => {
  const events = Array.from({ length: 200 }, (_, at) => anEvent(at, 'delivered', 5));
  expect(seriesOf(healthOf(events).points).accepted).not.toContain(null);
});

test('counts failures, and takes no answer time from a connection that was refused', () => {
  const refused = anEvent(0, 'retrying', 0);
  refused.delivery.last_http_status = null;
  const health = healthOf([refused, anEvent(0, 'delivered', 80)]);
  expect(health).toMatchObject({ accepted: 50, answer_ms: 80, failed: 1 });
  expect(seriesOf(health.points)).toMatchObject({ accepted: [50], answer_ms: [80] });
  expect(seriesOf(healthOf([refused]).points)).toMatchObject({ accepted: [0], answer_ms: [null] });
});
