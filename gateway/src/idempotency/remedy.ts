// What can be done about an outcome that is not known, by endpoint.
import { SendResult } from '@bmg/proto/messaging';
import type { Rpc } from '../endpoints/endpoint';

/**
 * ask: a send, and the messaging service may learn what became of it. again: doing it a second time
 * under the same request id is the same as once. none: it stays unknown.
 */
export type Remedy = 'ask' | 'again' | 'none';

const AGAIN = new Set([
  // A broadcast is created once per request id, whoever asks how often.
  'createBroadcast',
  // What is marked as read twice is marked as read.
  'markRead',
]);

export function remedyOf({ definition, method }: Rpc): Remedy {
  if (definition.methods[method]?.responseType === SendResult) return 'ask';
  return AGAIN.has(method) ? 'again' : 'none';
}
