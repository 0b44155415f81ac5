import { createUpstream } from '@bmg/common/upstream';
import { startEmulator } from '../../../../test/emulator';
import { TARGET } from '../../test/builders';
import { combine, getAnalytics, readPoints, utcDays } from './feature';
import { addUp, isFresh, type DailyCount } from './store';
import { aCall } from '../../../../test/testkit/call';

const DAY_S = 86_400;
const TODAY = 20_717 * DAY_S;

const count = (date: string, over: Partial<DailyCount> = {}): DailyCount => ({
  date,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  ...over,
});

test.each([
  ['the first moment of a day', TODAY * 1_000],
  ['the last moment of a day', (TODAY + DAY_S) * 1_000 - 1],
])('days are whole UTC days that end with today: %s', (_name, now_ms) => {
  expect(utcDays(new Date(now_ms), 3)).toEqual([TODAY - 2 * DAY_S, TODAY - DAY_S, TODAY]);
});

describe('the upstream’s points', () => {
  test('are sorted, and numbers sent as strings are read', () => {
    const data_points = [
      { start: TODAY, end: TODAY + DAY_S, sent: '3', delivered: 2 },
      { start: TODAY - DAY_S, end: TODAY, sent: 1, delivered: null },
    ];
    expect(readPoints({ analytics: { data_points } })).toEqual([
      { start: TODAY - DAY_S, end: TODAY, sent: 1, delivered: 0 },
      { start: TODAY, end: TODAY + DAY_S, sent: 3, delivered: 2 },
    ]);
  });

  test('are empty if the field is missing', () => {
    expect(readPoints({ id: '1' })).toEqual([]);
    expect(readPoints({ analytics: {} })).toEqual([]);
  });
});

test('counts reads from our own records, also for days that do not start at UTC midnight', () => {
  const points = [
    { start: TODAY - DAY_S - 3 * 3_600, end: TODAY - 3 * 3_600, sent: 5, delivered: 4 },
    { start: TODAY, end: TODAY + DAY_S, sent: 2, delivered: 2 },
  ];
  const counts = [
    count('2026-09-20', { read: 9, sent: 9, failed: 1 }),
    count('2026-09-21', { read: 3 }),
    count('2026-09-22', { read: 1 }),
  ];
  expect(new Date(TODAY * 1_000).toISOString()).toBe('2026-09-21T00:00:00.000Z');
  expect(combine(points, counts)).toEqual({
    sent: 7,
    delivered: 6,
    read: 13,
    data_points: [
      { ...points[0], read: 9 },
      { ...points[1], read: 3 },
    ],
    daily_logs: [
      { date: '2026-09-20', sent: 9, failed: 1 },
      { date: '2026-09-21', sent: 0, failed: 0 },
      { date: '2026-09-22', sent: 0, failed: 0 },
    ],
  });
});

test('counts each message of a day once, under its highest status', () => {
  expect(
    addUp(
      TODAY,
      (['accepted', 'sent', 'delivered', 'read', 'failed'] as const).map((_id, at) => ({
        _id,
        messages: 2 ** at,
      })),
    ),
  ).toEqual({ date: '2026-09-21', sent: 31, delivered: 12, read: 8, failed: 16 });
});

test.each([
  ['an hour-old count of yesterday', 1, 1, false],
  ['a count of yesterday of ten minutes ago', 1, 1 / 6, true],
  ['a day-old count of last month', 30, 24, false],
  ['a count of last month of this morning', 30, 12, true],
])('%s', (_name, days_ago, hours_old, fresh) => {
  const now = new Date((TODAY + DAY_S / 2) * 1_000);
  const counted_at = new Date(now.getTime() - hours_old * 3_600_000);
  expect(isFresh(TODAY - days_ago * DAY_S, counted_at, now)).toBe(fresh);
});

test('requests at most 90 days of the account from the upstream', async () => {
  const emulator = await startEmulator({ port: 0 });
  const upstream = createUpstream({
    UPSTREAM_URL: emulator.url,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
  const asked: number[][] = [];
  const ask = (days: number) =>
    getAnalytics(
      {
        upstream,
        credentials: { of: async () => ({ access_token: 'EMULATED-TOKEN-2' }) as never },
        dailyCounts: { of: async (_scope, wanted) => (asked.push(wanted), []) },
        now: () => new Date(),
      },
      { target: { ...TARGET, waba_id: '900000000000002' }, days },
      aCall(),
    );
  const answer = await ask(7);
  // The seed has a message count for each of the ten days before today.
  expect(answer).toMatchObject({ sent: 6 * 12, delivered: 6 * 11, read: 0 });
  expect(answer.data_points).toHaveLength(6);
  await ask(400);
  expect(asked.map(({ length }) => length)).toEqual([7, 90]);
  await upstream.stop();
  await emulator.close();
});
