// Broadcast status (contract): a table that the code, the database filter and the tests read.
import { defineMachine } from '@bmg/common/state';

/** `draft` is ours alone: its contacts are still being stored, and nobody is shown it. */
export type BroadcastStatus =
  'draft' | 'pending' | 'scheduled' | 'processing' | 'completed' | 'cancelled';

export type BroadcastEvent = 'queue' | 'schedule' | 'fallDue' | 'start' | 'finish' | 'cancel';

export const broadcastMachine = defineMachine<BroadcastStatus, BroadcastEvent>({
  queue: { from: ['draft'], to: 'pending' },
  schedule: { from: ['draft'], to: 'scheduled' },
  fallDue: { from: ['scheduled'], to: 'pending' },
  // Taken right before the first message goes out: until then a cancel wins.
  start: { from: ['pending'], to: 'processing' },
  finish: { from: ['processing'], to: 'completed' },
  cancel: { from: ['pending', 'scheduled'], to: 'cancelled' },
});

/** Those that a worker has to do something for. */
export const ACTIVE: readonly BroadcastStatus[] = ['pending', 'processing'];
export const ENDED: readonly BroadcastStatus[] = ['completed', 'cancelled'];
export const SHOWN: readonly BroadcastStatus[] = ['scheduled', ...ACTIVE, ...ENDED];

/** Contract, Limits: contacts per broadcast. */
export const CONTACTS_MAX = 10_000;
