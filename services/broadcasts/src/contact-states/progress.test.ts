import { aBroadcast } from '../../test/builders';
import { PAUSED_MAX_MS } from '../ground/broadcast-machine';
import { emptyTally, type Tally } from '../ground/contact-state';
import { detail, zeroCounts, progressOf, countsByBroadcast } from './progress';

const NOW = new Date('2026-11-21T10:00:00Z');
const noRate = { number_rate: undefined, sharing: 1 };
const tally = (overrides: Partial<Tally>): Tally => ({ ...emptyTally(), ...overrides });
const counts = (overrides: Partial<Tally>) => ({ tally: tally(overrides), failures: [] });
const running = (overrides = {}) =>
  aBroadcast({
    status: 'processing',
    total: 100,
    started_at: new Date(NOW.getTime() - 10_000),
    ...overrides,
  });

test('progress is the percentage of attempted contacts, and 100 when completed', () => {
  expect(progressOf({ status: 'pending', total: 0 }, emptyTally())).toBe(0);
  expect(progressOf({ status: 'processing', total: 3 }, tally({ sent: 1 }))).toBe(33.33);
  expect(
    progressOf({ status: 'processing', total: 4 }, tally({ sent: 2, failed: 1, delivered: 2 })),
  ).toBe(75);
  expect(progressOf({ status: 'completed', total: 0 }, emptyTally())).toBe(100);
  expect(progressOf({ status: 'cancelled', total: 9 }, emptyTally())).toBe(0);
});

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

test('a running broadcast shows its part of the number’s rate, and the end that follows from it', () => {
  const { broadcast, progress } = detail(running(), counts({ sent: 40, waiting: 60 }), NOW, {
    number_rate: 76,
    sharing: 2,
  });
  expect(progress).toBe(40);
  expect(broadcast?.rate_per_sec).toBe(38);
  expect(broadcast?.estimated_completion_at).toEqual(new Date(NOW.getTime() + (60 / 38) * 1_000));
});

test('without the number’s rate it shows its average so far', () => {
  const { broadcast } = detail(running(), counts({ sent: 50 }), NOW, noRate);
  expect(broadcast?.rate_per_sec).toBe(5);
  expect(broadcast?.estimated_completion_at).toEqual(new Date(NOW.getTime() + 10_000));
});

test('a pending broadcast has neither rate nor estimated end, a completed one no estimated end', () => {
  const waiting = detail(aBroadcast({ status: 'pending', total: 9 }), zeroCounts(), NOW, noRate);
  expect(waiting.broadcast?.rate_per_sec).toBeUndefined();
  expect(waiting.broadcast?.estimated_completion_at).toBeUndefined();
  const ended = detail(
    running({ status: 'completed', completed_at: NOW }),
    counts({ sent: 100 }),
    NOW,
    noRate,
  );
  expect(ended.broadcast?.rate_per_sec).toBe(10);
  expect(ended.broadcast?.estimated_completion_at).toBeUndefined();
});

test('a paused broadcast is shown as processing, with its pause and without rate and estimated end', () => {
  const paused_at = new Date(NOW.getTime() - 3_600_000);
  const { broadcast } = detail(
    running({ status: 'paused', paused_at }),
    counts({ sent: 40, waiting: 60 }),
    NOW,
    { number_rate: 76, sharing: 1 },
  );
  expect(broadcast).toMatchObject({
    status: 'processing',
    paused_at,
    pause_ends_at: new Date(paused_at.getTime() + PAUSED_MAX_MS),
  });
  expect(broadcast?.rate_per_sec).toBeUndefined();
  expect(broadcast?.estimated_completion_at).toBeUndefined();
});

test.each([
  [null, 'pending'],
  [NOW, 'scheduled'],
])(
  'a broadcast that waits for approval, scheduled at %s, is shown as %s',
  (scheduled_at, shown) => {
    const approval = { created_by: null, approved_by: null, approved_at: null };
    const stored = aBroadcast({ status: 'awaiting_approval', scheduled_at, approval });
    expect(detail(stored, zeroCounts(), NOW, noRate).broadcast).toMatchObject({
      status: shown,
      approval: { state: 'waiting' },
    });
  },
);

test('the error log has the reason for a stop or the codes that failed', () => {
  const log = (broadcast: ReturnType<typeof running>, failed: number) =>
    detail(
      broadcast,
      {
        tally: tally({ failed }),
        failures: [{ code: '131026', count: failed, example: '1555••••001' }],
      },
      NOW,
      noRate,
    ).broadcast?.error_log;
  expect(log(running(), 0)).toBeUndefined();
  expect(log(running(), 2)).toBe('2 of 100 failed (131026: 2)');
  expect(log(running({ stop: { code: '132015', message: 'paused' } }), 2)).toBe(
    'stopped: paused (132015)',
  );
});
