// The states of a broadcast (contract 9.1, 9.6, 9.7): one table for the code, the store's filters
// and the tests.
import { defineMachine } from '@bmg/common/state';

/**
 * Three states are internal. `draft`: the contacts are still being stored, and no partner sees it.
 * `paused`: partners see `processing` with `paused_at`, because the contract's list of statuses is
 * closed. `awaiting_approval`: partners see `pending` or `scheduled` with `approval`. It is a
 * state, not a flag, so that a worker of a release that does not know it has nothing to do for it.
 */
export const broadcastMachine = defineMachine({
  queue: { from: ['draft'], to: 'pending' },
  schedule: { from: ['draft'], to: 'scheduled' },
  awaitApproval: { from: ['draft'], to: 'awaiting_approval' },
  approve: { from: ['awaiting_approval'], to: 'pending' },
  approveForLater: { from: ['awaiting_approval'], to: 'scheduled' },
  fallDue: { from: ['scheduled'], to: 'pending' },
  // Happens right before the first message is sent, so that a cancel succeeds until then.
  start: { from: ['pending'], to: 'processing' },
  pause: { from: ['processing'], to: 'paused' },
  resume: { from: ['paused'], to: 'processing' },
  // A pause may come while the last contacts are recorded.
  complete: { from: ['processing', 'paused'], to: 'completed' },
  cancel: { from: ['awaiting_approval', 'pending', 'scheduled', 'paused'], to: 'cancelled' },
});

export type BroadcastStatus = Parameters<typeof broadcastMachine.allows>[0];
export type BroadcastEvent = Parameters<typeof broadcastMachine.to>[0];

/** A broadcast that is paused for longer is cancelled: its contacts are not kept for ever. */
export const PAUSED_MAX_MS = 7 * 86_400_000;
/** One that waits longer for approval is cancelled too. */
export const APPROVAL_MAX_MS = 7 * 86_400_000;

/** The states in which a worker has something to do. */
export const ACTIVE: readonly BroadcastStatus[] = ['pending', 'processing'];
/** The states that nothing ends soon: a partner may have a limited number of broadcasts in them. */
export const WAITING: readonly BroadcastStatus[] = [
  'draft',
  'awaiting_approval',
  'scheduled',
  'pending',
  'paused',
];
export const ENDED: readonly BroadcastStatus[] = ['completed', 'cancelled'];
/** The states that partners see. */
export const SHOWN: readonly BroadcastStatus[] = [
  'awaiting_approval',
  'scheduled',
  ...ACTIVE,
  'paused',
  ...ENDED,
];
