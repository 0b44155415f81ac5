import { aBroadcast } from '../../test/builders';
import { PAUSED_MAX_MS } from '../ground/broadcast-machine';
import { emptyTally, type Tally } from '../ground/contact-state';
import type { Broadcast } from '../ground/types';
import { detail, progressOf, countsByBroadcast } from './progress';

const NOW = new Date('2026-11-21T10:00:00Z');
const inSeconds = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);
const tally = (overrides: Partial<Tally>): Tally => ({ ...emptyTally(), ...overrides });
/** A broadcast of 100 contacts that started ten seconds ago, as its partner sees it. */
const shown = (
  overrides: Partial<Broadcast>,
  counted: Partial<Tally> = {},
  pace: Parameters<typeof detail>[3] = { number_rate: undefined, sharing: 1 },
) =>
  detail(
    aBroadcast({ status: 'processing', total: 100, started_at: inSeconds(-10), ...overrides }),
    {
      tally: tally(counted),
      failures: [{ code: '131026', count: counted.failed ?? 0, example: '1555••••001' }],
    },
    NOW,
    pace,
  );

test.each<[Parameters<typeof progressOf>[0], Partial<Tally>, number]>([
  [{ status: 'pending', total: 0 }, {}, 0],
  [{ status: 'processing', total: 3 }, { sent: 1 }, 33.33],
  [{ status: 'processing', total: 4 }, { sent: 2, failed: 1, delivered: 2 }, 75],
  [{ status: 'completed', total: 0 }, {}, 100],
  [{ status: 'cancelled', total: 9 }, {}, 0],
])(
  'progress is the percentage of attempted contacts: %j, %j is at %d',
  (one, counted, progress) => {
    expect(progressOf(one, tally(counted))).toBe(progress);
  },
);

test('adds up the chunks of each broadcast', () => {
  const failure = { code: '131026', count: 1, example: '1555••••001' };
  const other = { code: '131049', count: 3, example: '1555••••002' };
  const counted = countsByBroadcast([
    { broadcast_id: 1, tally: tally({ sent: 2, delivered: 1, failed: 1 }), failures: [failure] },
    { broadcast_id: 1, tally: tally({ sent: 3, failed: 4 }), failures: [failure, other] },
    { broadcast_id: 2, tally: tally({ waiting: 5 }), failures: [] },
  ]);
  expect(counted.get(1)).toEqual({
    tally: tally({ sent: 5, delivered: 1, failed: 5 }),
    // The most frequent first.
    failures: [other, { ...failure, count: 2 }],
  });
  expect(counted.get(2)?.tally.waiting).toBe(5);
});

test.each<[string, Parameters<typeof shown>, number | undefined, Date | undefined]>([
  [
    'a running one its part of the number’s rate, and the end that follows from it',
    [{}, { sent: 40, waiting: 60 }, { number_rate: 76, sharing: 2 }],
    38,
    inSeconds(60 / 38),
  ],
  ['without the number’s rate its average so far', [{}, { sent: 50 }], 5, inSeconds(10)],
  ['a pending one neither', [{ status: 'pending', started_at: null }], undefined, undefined],
  [
    'a completed one its average and no estimated end',
    [{ status: 'completed', completed_at: NOW }, { sent: 100 }],
    10,
    undefined,
  ],
  [
    'a paused one neither',
    [{ status: 'paused' }, { sent: 40, waiting: 60 }, { number_rate: 76, sharing: 1 }],
    undefined,
    undefined,
  ],
])('the rate and the estimated end of a broadcast: %s', (_name, given, rate_per_sec, end) => {
  const { broadcast } = shown(...given);
  expect(broadcast?.rate_per_sec).toBe(rate_per_sec);
  expect(broadcast?.estimated_completion_at).toEqual(end);
});

test('a paused broadcast is shown as processing, with its pause', () => {
  const paused_at = inSeconds(-3_600);
  expect(shown({ status: 'paused', paused_at }).broadcast).toMatchObject({
    status: 'processing',
    paused_at,
    pause_ends_at: new Date(paused_at.getTime() + PAUSED_MAX_MS),
  });
});

test.each([
  [null, 'pending'],
  [NOW, 'scheduled'],
])(
  'a broadcast that waits for approval, scheduled at %s, is shown as %s',
  (scheduled_at, status) => {
    const approval = { created_by: null, approved_by: null, approved_at: null };
    const { broadcast } = shown({ status: 'awaiting_approval', scheduled_at, approval });
    expect(broadcast).toMatchObject({ status, approval: { state: 'waiting' } });
  },
);

test.each<[Partial<Broadcast>, number, string | undefined]>([
  [{}, 0, undefined],
  [{}, 2, '2 of 100 failed (131026: 2)'],
  [{ stop: { code: '132015', message: 'paused' } }, 2, 'stopped: paused (132015)'],
])('the error log has the reason for a stop or the codes: %j, %i failed', (given, failed, log) => {
  expect(shown(given, { failed }).broadcast?.error_log).toBe(log);
});
