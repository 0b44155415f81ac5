// The states of a broadcast (contract 9.1): one table for the code, the store's filters and
// the tests.
import { defineMachine } from '@bmg/common/state';

/** `draft` is internal: the contacts are still being stored, and no partner sees it. */
export type BroadcastStatus =
  'draft' | 'pending' | 'scheduled' | 'processing' | 'completed' | 'cancelled';

export type BroadcastEvent = 'queue' | 'schedule' | 'fallDue' | 'start' | 'complete' | 'cancel';

export const broadcastMachine = defineMachine<BroadcastStatus, BroadcastEvent>({
  queue: { from: ['draft'], to: 'pending' },
  schedule: { from: ['draft'], to: 'scheduled' },
  fallDue: { from: ['scheduled'], to: 'pending' },
  // Happens right before the first message is sent, so that a cancel succeeds until then.
  start: { from: ['pending'], to: 'processing' },
  complete: { from: ['processing'], to: 'completed' },
  cancel: { from: ['pending', 'scheduled'], to: 'cancelled' },
});

/** The states in which a worker has something to do. */
export const ACTIVE: readonly BroadcastStatus[] = ['pending', 'processing'];
/** The states before the first send: a partner may have a limited number of broadcasts in them. */
export const WAITING: readonly BroadcastStatus[] = ['draft', 'scheduled', 'pending'];
export const ENDED: readonly BroadcastStatus[] = ['completed', 'cancelled'];
/** The states that partners see. */
export const SHOWN: readonly BroadcastStatus[] = ['scheduled', ...ACTIVE, ...ENDED];
