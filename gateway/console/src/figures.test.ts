import type { LoggedEvent } from './api/types';
import { compare, countsByDay, eventDaysOf, ownCallsOf, sentByCategory, totalsOf } from './figures';

const row = (day: string, category: string, sent: number, delivered = 0) => ({
  ...{ day, category, sent, delivered },
  ...{ read: 0, failed: 0 },
});
const ROWS = [
  row('2026-11-01', 'utility', 100),
  row('2026-11-02', 'utility', 3, 2),
  row('2026-11-02', 'service', 1, 1),
  row('2026-11-04', 'utility', 5),
  row('2026-11-05', 'utility', 100),
];
const PERIOD = { from: '2026-11-02', to: '2026-11-04' };

test('the days and the categories of a period sum up to its totals', () => {
  expect(totalsOf(ROWS, PERIOD)).toEqual({ sent: 9, delivered: 3, read: 0, failed: 0 });
  expect(countsByDay(ROWS, PERIOD).map(({ sent }) => sent)).toEqual([4, 0, 5]);
  expect(sentByCategory(ROWS, PERIOD)).toEqual({ utility: 8, service: 1 });
});

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

test('the calls of the console are not among those of the partner', () => {
  const endpoints = [
    { method: 'GET', endpoint: '/clients', calls: 3, errors: 1 },
    { method: 'POST', endpoint: '/messages/send', calls: 2, errors: 0 },
    { method: null, endpoint: 'console /clients', calls: 29, errors: 4 },
  ];
  expect(ownCallsOf({ endpoints })).toEqual({ calls: 5, errors: 1 });
});

test('lists the groups of both periods by their present size, without those empty in both', () => {
  const now = { utility: 2, service: 5, referral: 0 };
  expect(compare(now, { marketing: 4, utility: 1, referral: 0 })).toEqual([
    { name: 'service', now: 5, before: 0 },
    { name: 'utility', now: 2, before: 1 },
    { name: 'marketing', now: 0, before: 4 },
  ]);
});
