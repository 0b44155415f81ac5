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
const MOVES: Record<BroadcastEvent, [from: BroadcastStatus[], to: BroadcastStatus]> = {
  queue: [['draft'], 'pending'],
  schedule: [['draft'], 'scheduled'],
  awaitApproval: [['draft'], 'awaiting_approval'],
  approve: [['awaiting_approval'], 'pending'],
  approveForLater: [['awaiting_approval'], 'scheduled'],
  fallDue: [['scheduled'], 'pending'],
  start: [['pending'], 'processing'],
  pause: [['processing'], 'paused'],
  resume: [['paused'], 'processing'],
  complete: [['processing', 'paused'], 'completed'],
  cancel: [['awaiting_approval', 'pending', 'scheduled', 'paused'], 'cancelled'],
};

test.each(broadcastMachine.events)(
  'the event %s moves a broadcast of some states only',
  (event) => {
    const [from, to] = MOVES[event];
    expect(broadcastMachine.to(event)).toBe(to);
    expect(STATES.filter((state) => broadcastMachine.allows(state, event))).toEqual(
      STATES.filter((state) => from.includes(state)),
    );
  },
);

test('a broadcast that waits for approval is no work, counts as waiting, and is shown', () => {
  expect(ACTIVE).not.toContain('awaiting_approval');
  expect(WAITING).toContain('awaiting_approval');
  expect(SHOWN).toContain('awaiting_approval');
});
