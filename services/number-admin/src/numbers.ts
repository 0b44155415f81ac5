// Resolves the number of a request: the target's, or another number of the account in the request's
// field `phone_number_id` (contract 2.4). The upstream must list it for the
// account, because a token may also reach numbers of other accounts.
import type { Call } from '@bmg/common/rpc';
import type { Targeted } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { RequireMember } from './membership';

export interface NumberOf {
  (request: Targeted & { phone_number_id?: unknown }, target: Target, call: Call): Promise<string>;
}

export function createNumbers(requireMember: RequireMember): NumberOf {
  return async ({ phone_number_id: named }, target, call) => {
    if (typeof named !== 'string' || named === target.phone_number_id) {
      return target.phone_number_id;
    }
    await requireMember('number', named, target, call);
    return named;
  };
}
