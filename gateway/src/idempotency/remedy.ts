// For each endpoint, how a retry can resolve the unknown outcome of an earlier request.
import { SendResult } from '@bmg/proto/messaging';
import type { Rpc } from '../endpoints/endpoint';

/**
 * look_up: a send; the messaging service may have learnt the outcome from status events. repeat:
 * doing the work again under the same request id has no further effect. none: the outcome stays
 * unknown.
 */
export type Remedy = 'look_up' | 'repeat' | 'none';

const REPEATABLE = new Set([
  // A request id creates one broadcast, however often it is sent.
  'createBroadcast',
  // Marking a read message as read changes nothing.
  'markRead',
]);

export function remedyOf({ method, codecs }: Rpc): Remedy {
  if (codecs.responseType === SendResult) return 'look_up';
  return REPEATABLE.has(method) ? 'repeat' : 'none';
}
