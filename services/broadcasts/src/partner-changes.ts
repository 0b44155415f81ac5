// Moves of a broadcast that its partner requests: cancel, pause, resume, approve. Each is one conditional
// update, so that of two that race only one succeeds.
import { ApiError, type ErrorCode } from '@bmg/common/errors';
import { checkApprover } from './approval';
import { broadcastMachine, type BroadcastStatus } from './ground/broadcast-machine';
import type { Broadcasts, PartnerEvent, PartnerSet, Scope } from './store/broadcasts';
import type { Approval, Broadcast } from './store/types';

// The same error for an unknown broadcast and for another partner's.
export const notFound = (): ApiError => new ApiError('NOT_FOUND', 'there is no such broadcast');

const REFUSALS: Record<PartnerEvent, ErrorCode> = {
  cancel: 'CANNOT_CANCEL',
  pause: 'CANNOT_PAUSE',
  resume: 'CANNOT_RESUME',
  approve: 'CANNOT_APPROVE',
  approveForLater: 'CANNOT_APPROVE',
};

/** How often a move is tried again if the broadcast changed between the update and the read. */
const TRIES_MAX = 3;

interface Change {
  scope: Scope;
  /** The number of the broadcast for its partner. */
  number: number;
  event: PartnerEvent;
  set?: PartnerSet;
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

/**
 * Lets a broadcast that waits for approval start: at its time, or now if that has passed. Repeating an
 * approval succeeds, also once the broadcast has started.
 */
export async function approveBroadcast(
  broadcasts: Pick<Broadcasts, 'change' | 'find'>,
  { scope, number }: Pick<Change, 'scope' | 'number'>,
  { person_id, at }: { person_id: string | undefined; at: Date },
): Promise<void> {
  const stored = await broadcasts.find(scope, number);
  if (!stored) throw notFound();
  checkApprover(stored, person_id);
  const { approval, status, scheduled_at } = stored;
  if (!approval) {
    throw new ApiError('CANNOT_APPROVE', 'the broadcast needs no approval');
  }
  if (approval.approved_at && status !== 'cancelled') return;
  const event = scheduled_at && scheduled_at > at ? 'approveForLater' : 'approve';
  const approved: Approval = { ...approval, approved_by: person_id, approved_at: at };
  try {
    await changeBroadcast(broadcasts, { scope, number, event, set: { approval: approved } });
  } catch (error) {
    if (!(await isApproved(broadcasts, scope, number))) throw error;
  }
}

/** By another person, whose approval came in between. */
async function isApproved(
  broadcasts: Pick<Broadcasts, 'find'>,
  scope: Scope,
  number: number,
): Promise<boolean> {
  const stored = await broadcasts.find(scope, number);
  return Boolean(stored?.approval?.approved_at) && stored?.status !== 'cancelled';
}

function reasonOf(event: PartnerEvent, status: BroadcastStatus): string {
  if (event === 'approve' || event === 'approveForLater') return `the broadcast is ${status}`;
  if (status === 'awaiting_approval') return 'the broadcast waits for approval';
  const hasNotStarted = status === 'pending' || status === 'scheduled';
  if (hasNotStarted && event === 'pause') {
    return `the broadcast is ${status}: cancel it, or pause it once it is processing`;
  }
  if (hasNotStarted) return `the broadcast is ${status}, not paused`;
  if (status === 'processing') return 'the broadcast is already processing: pause it first';
  return `the broadcast is already ${status}`;
}
