// Moves of a broadcast that its partner requests: cancel, pause, resume. Each is one conditional update, so
// that of two that race only one succeeds.
import { ApiError, type ErrorCode } from '@bmg/common/errors';
import { broadcastMachine, type BroadcastStatus } from './broadcast-machine';
import type { Broadcasts, PartnerEvent, Scope } from './store/broadcasts';
import type { Broadcast } from './store/types';

// The same error for an unknown broadcast and for another partner's.
export const notFound = (): ApiError => new ApiError('NOT_FOUND', 'there is no such broadcast');

const REFUSALS: Record<PartnerEvent, ErrorCode> = {
  cancel: 'CANNOT_CANCEL',
  pause: 'CANNOT_PAUSE',
  resume: 'CANNOT_RESUME',
};

/** How often a move is tried again if the broadcast changed between the update and the read. */
const TRIES_MAX = 3;

interface Change {
  scope: Scope;
  /** The number of the broadcast for its partner. */
  number: number;
  event: PartnerEvent;
  set?: Partial<Pick<Broadcast, 'paused_at'>>;
}

/**
 * Returns the broadcast after the move, or undefined if it was in that state already: repeating a
 * change succeeds. Throws if its state does not allow the move.
 */
export async function changeBroadcast(
  broadcasts: Pick<Broadcasts, 'change' | 'find'>,
  { scope, number, event, set = {} }: Change,
): Promise<Broadcast | undefined> {
  for (let tries = 1; ; tries += 1) {
    const changed = await broadcasts.change(scope, number, event, set);
    if (changed) return changed;
    const stored = await broadcasts.find(scope, number);
    if (!stored) throw notFound();
    if (stored.status === broadcastMachine.to(event)) return undefined;
    if (tries < TRIES_MAX && broadcastMachine.allows(stored.status, event)) continue;
    throw new ApiError(REFUSALS[event], reasonOf(event, stored.status));
  }
}

function reasonOf(event: PartnerEvent, status: BroadcastStatus): string {
  const hasNotStarted = status === 'pending' || status === 'scheduled';
  if (hasNotStarted && event === 'pause') {
    return `the broadcast is ${status}: cancel it, or pause it once it is processing`;
  }
  if (hasNotStarted) return `the broadcast is ${status}, not paused`;
  if (status === 'processing') return 'the broadcast is already processing: pause it first';
  return `the broadcast is already ${status}`;
}
