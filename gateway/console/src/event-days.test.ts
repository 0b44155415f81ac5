import type { LoggedEvent } from './api/types';
import { eventDaysOf } from './event-days';

const event = (seq: number, logged_at: string, answer_ms: number | null): LoggedEvent =>
  ({
    seq,
    logged_at,
    delivery:
      answer_ms === null
        ? { status: 'failed', last_http_status: null, last_duration_ms: 3 }
        : { status: 'delivered', last_http_status: 200, last_duration_ms: answer_ms },
  }) as unknown as LoggedEvent;

test('counts the events of each day, and samples the receiver’s answers', () => {
  const monday = event(11, '2026-11-23T08:00:00Z', 40);
  const refused = event(12, '2026-11-23T09:00:00Z', null);
  const wednesday = event(20, '2026-11-25T07:00:00Z', 90);
  const newest = 25;
  expect(
    eventDaysOf([
      { day: '2026-11-23', page: { newest, events: [monday, refused, wednesday] } },
      { day: '2026-11-24', page: { newest, events: [wednesday] } },
      { day: '2026-11-25', page: { newest, events: [wednesday] } },
      { day: '2026-11-26', page: { newest, events: [] } },
    ]),
  ).toEqual([
    { day: '2026-11-23', events: 9, accepted: 50, answer_ms: 40 },
    { day: '2026-11-24', events: 0, accepted: null, answer_ms: null },
    { day: '2026-11-25', events: 6, accepted: 100, answer_ms: 90 },
    { day: '2026-11-26', events: 0, accepted: null, answer_ms: null },
  ]);
});

test('an event between two reads does not make a day negative', () => {
  const late = event(3, '2026-11-24T00:00:00Z', 1);
  const days = eventDaysOf([
    { day: '2026-11-23', page: { newest: 2, events: [] } },
    { day: '2026-11-24', page: { newest: 3, events: [late] } },
  ]);
  expect(days.map(({ events }) => events)).toEqual([0, 1]);
});
