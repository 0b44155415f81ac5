// Who makes a request, and what that caller may do, as stored now: a key may have been revoked
// since the request was admitted.
import { invalidKey } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import type { Dependencies } from '../../dependencies';
import type { Grant } from './rules';
import { ROLE_SCOPES } from '@bmg/common/people';

/** Requests of several rooms name their caller so. */
export interface Asked {
  partner_id: string;
  caller_key_id?: string | undefined;
  caller_person_id?: string | undefined;
  caller_is_operator?: boolean | undefined;
}

interface Caller {
  actor: { type: string; id: string | null; name: string | null };
  /** Undefined for the partner key, its console session, and the operator: they have all rights. */
  grant?: Grant;
}

export async function callerOf(
  { partnerKeys, people }: Dependencies,
  { partner_id, caller_key_id, caller_person_id, caller_is_operator = false }: Asked,
): Promise<Caller> {
  if (caller_key_id !== undefined) {
    const key = await partnerKeys.find(partner_id, caller_key_id);
    if (!key) throw invalidKey();
    return { actor: { type: 'api_key', id: key._id, name: key.name }, grant: key };
  }
  if (caller_person_id === undefined) {
    const type = caller_is_operator ? 'operator' : 'partner_key';
    return { actor: { type, id: null, name: null } };
  }
  const person = await people.find(partner_id, caller_person_id);
  if (!person) throw new ApiError('UNAUTHORIZED', 'this person was removed');
  return {
    actor: { type: 'person', id: person.person_id, name: person.email },
    grant: {
      scopes: [...ROLE_SCOPES[person.role]],
      waba_ids: null,
      addresses: null,
      expires_at: null,
    },
  };
}
