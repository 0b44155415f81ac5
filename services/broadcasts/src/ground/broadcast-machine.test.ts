import {
  ACTIVE,
  broadcastMachine,
  SHOWN,
  WAITING,
  type BroadcastEvent,
  type BroadcastStatus,
} from './broadcast-machine';

const STATES: BroadcastStatus[] = [
  'draft',
  'awaiting_approval',
  'pending',
  'scheduled',
  'processing',
  'paused',
  'completed',
  'cancelled',
];

/** Everything else is refused (contract 9.1, 9.6, 9.7). */
const ALLOWED: Record<BroadcastEvent, Partial<Record<BroadcastStatus, BroadcastStatus>>> = {
  queue: { draft: 'pending' },
  schedule: { draft: 'scheduled' },
  awaitApproval: { draft: 'awaiting_approval' },
  approve: { awaiting_approval: 'pending' },
  approveForLater: { awaiting_approval: 'scheduled' },
  fallDue: { scheduled: 'pending' },
  start: { pending: 'processing' },
  pause: { processing: 'paused' },
  resume: { paused: 'processing' },
  complete: { processing: 'completed', paused: 'completed' },
  cancel: {
    awaiting_approval: 'cancelled',
    pending: 'cancelled',
    scheduled: 'cancelled',
    paused: 'cancelled',
  },
};

describe.each(STATES)('a broadcast that is %s', (state) => {
  test.each(broadcastMachine.events)('and the event %s', (event) => {
    const to = ALLOWED[event][state];
    expect(broadcastMachine.allows(state, event)).toBe(to !== undefined);
    if (to !== undefined) expect(broadcastMachine.to(event)).toBe(to);
  });
});

test('a broadcast that waits for approval is no work, counts as waiting, and is shown', () => {
  expect(ACTIVE).not.toContain('awaiting_approval');
  expect(WAITING).toContain('awaiting_approval');
  expect(SHOWN).toContain('awaiting_approval');
});
