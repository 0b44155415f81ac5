// Moves of a broadcast that its partner requests: cancel, pause, resume, approve. Each is one
// conditional update, so that of two that race only one succeeds.
import { ApiError, type ErrorCode } from '@bmg/common/errors';
import type { Dependencies } from './dependencies';
import { checkApprover } from './ground/approval';
import { broadcastMachine, type BroadcastStatus } from './ground/broadcast-machine';
import type { Broadcasts, PartnerEvent, PartnerSet, Scope } from './records/broadcasts';
import type { Approval, Broadcast } from './ground/types';
import type { Handlers } from '@bmg/common/rpc';
import type {
  ApproveBroadcastRequest,
  BroadcastsDefinition,
  CancelBroadcastRequest,
} from '@bmg/proto/broadcasts';
import { removeContactsOf } from './records/chunks';

/** An unknown broadcast and another partner's get the same error. */
export const notFound = (): ApiError => new ApiError('NOT_FOUND', 'there is no such broadcast');

const REFUSALS: Record<PartnerEvent, ErrorCode> = {
  cancel: 'CANNOT_CANCEL',
  pause: 'CANNOT_PAUSE',
  resume: 'CANNOT_RESUME',
  approve: 'CANNOT_APPROVE',
  approveForLater: 'CANNOT_APPROVE',
};

type ChangeDependencies = Pick<Dependencies, 'broadcasts' | 'chunks' | 'log'> & {
  /** Makes the runner look at the active broadcasts at once. */
  wake: () => void;
  now: () => Date;
};

export const scopeOf = ({ partner_id, waba_id }: Scope): Scope => ({ partner_id, waba_id });

export function createPartnerChanges(
  deps: ChangeDependencies,
): Pick<
  Handlers<BroadcastsDefinition>,
  'cancelBroadcast' | 'pauseBroadcast' | 'resumeBroadcast' | 'approveBroadcast'
> {
  const { broadcasts, now, wake } = deps;
  const change = (request: CancelBroadcastRequest, event: PartnerEvent, set?: PartnerSet) =>
    changeBroadcast(broadcasts, scopeOf(request), request.broadcast_id, event, set);
  return {
    async cancelBroadcast(request) {
      const cancelled = await change(request, 'cancel');
      if (cancelled) await removeContactsOf(cancelled, deps);
      return {};
    },
    async pauseBroadcast(request) {
      await change(request, 'pause', { paused_at: now() });
      wake();
      return {};
    },
    async resumeBroadcast(request) {
      await change(request, 'resume', { paused_at: null });
      wake();
      return {};
    },
    async approveBroadcast(request) {
      await approveBroadcast(broadcasts, request, now());
      wake();
      return {};
    },
  };
}

/** How often a move is tried again if the broadcast changed between the update and the read. */
const TRIES_MAX = 3;

/**
 * Returns the broadcast after the move, or undefined if it was in that state already: repeating a
 * change succeeds. Throws if its state does not allow the move.
 */
async function changeBroadcast(
  broadcasts: Broadcasts,
  scope: Scope,
  number: number,
  event: PartnerEvent,
  set: PartnerSet = {},
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
 * Lets a broadcast that waits for approval start: at its time, or now if that has passed. Repeating
 * an approval succeeds, also once the broadcast has started.
 */
export async function approveBroadcast(
  broadcasts: Broadcasts,
  request: ApproveBroadcastRequest,
  at: Date,
): Promise<void> {
  const { broadcast_id: number, caller_person_id: person_id } = request;
  const scope = scopeOf(request);
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
    await changeBroadcast(broadcasts, scope, number, event, { approval: approved });
  } catch (error) {
    // Another person's approval may have come in between.
    const now = await broadcasts.find(scope, number);
    if (!now?.approval?.approved_at || now.status === 'cancelled') throw error;
  }
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
