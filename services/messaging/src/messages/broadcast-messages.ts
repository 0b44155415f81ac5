// Which messages are those of a broadcast: the broadcasts service makes their request ids, and all
// begin alike.
import { ApiError } from '@bmg/common/errors';
import type { Call, Client } from '@bmg/common/rpc';
import type {
  BroadcastsDefinition,
  FindBroadcastRequest,
  FindBroadcastResponse,
} from '@bmg/proto/broadcasts';

export interface BroadcastSource {
  broadcasts?: Pick<Client<BroadcastsDefinition>, 'findBroadcast'> | undefined;
}

type Asked = Omit<FindBroadcastRequest, 'broadcast_id'> & { broadcast_id?: number | undefined };

/** Undefined without a `broadcast_id`. Throws NOT_FOUND for one that is not the partner's. */
export async function findBroadcast(
  { broadcasts }: BroadcastSource,
  { partner_id, waba_id, broadcast_id }: Asked,
  call: Call,
): Promise<FindBroadcastResponse | undefined> {
  if (broadcast_id === undefined) return undefined;
  if (!broadcasts) {
    throw new ApiError('NOT_CONFIGURED', 'this installation has no filter by broadcast_id');
  }
  return broadcasts.findBroadcast({ partner_id, waba_id, broadcast_id }, call);
}

/** The filter of ids that begin with `prefix`; an index of the field answers it. */
export const beginningWith = (prefix: string): { $gte: string; $lt: string } => ({
  $gte: prefix,
  $lt: `${prefix}\uffff`,
});
