// The approval of a large broadcast by a second person (contract 9.7): which broadcasts need
// one, who may give it, and how it is shown. Pure functions.
import { ApiError } from '@bmg/common/errors';
import { mayApprove, ROLES } from '@bmg/common/people';
import type { Approval as ApprovalMessage } from '@bmg/proto/broadcasts';
import { APPROVAL_MAX_MS } from './broadcast-machine';
import type { Approval, Broadcast } from './types';

/** Undefined if the broadcast needs none. */
export const neededApproval = (
  contacts: number,
  { approval_above, caller_person_id }: NeedsApproval,
): Approval | undefined =>
  approval_above !== undefined && contacts > approval_above
    ? { created_by: caller_person_id ?? null, approved_by: null, approved_at: null }
    : undefined;

interface NeedsApproval {
  approval_above?: number | undefined;
  caller_person_id?: string | undefined;
}

/** Throws unless the caller is a person who did not create the broadcast. */
export function checkApprover(
  { approval }: Pick<Broadcast, 'approval'>,
  person_id: string | undefined,
): asserts person_id is string {
  if (person_id === undefined) {
    throw new ApiError('PERSON_REQUIRED', 'a broadcast is approved by a person, not by a key', {
      details: { roles: ROLES.filter(mayApprove) },
    });
  }
  if (approval?.created_by !== person_id) return;
  throw new ApiError(
    'SECOND_PERSON_REQUIRED',
    'you created this broadcast: another person must approve it',
  );
}

/** The partner's view; undefined if the broadcast needs no approval. */
export function approvalMessage({
  approval,
  status,
  created_at,
}: Pick<Broadcast, 'approval' | 'status' | 'created_at'>): ApprovalMessage | undefined {
  if (!approval) return undefined;
  const { created_by, approved_by, approved_at } = approval;
  const waits = status === 'draft' || status === 'awaiting_approval';
  return {
    state: approved_at ? 'approved' : waits ? 'waiting' : 'ended',
    created_by: created_by ?? undefined,
    ends_at: waits ? new Date(created_at.getTime() + APPROVAL_MAX_MS) : undefined,
    approved_by: approved_by ?? undefined,
    approved_at: approved_at ?? undefined,
  };
}
