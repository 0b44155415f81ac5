// The deliveries of one event to its receivers, and their attempts. Pure.
import type { Attempt, FailedEvent } from '../../api/types';

/** A delivery that waits: to an endpoint, or to the webhook address. */
export type Waiting = Pick<FailedEvent, 'event_id' | 'endpoint_id'>;

/** Names a delivery: the same event may wait for several receivers. */
export const deliveryOf = ({ event_id, endpoint_id }: Waiting): string =>
  endpoint_id ? `${event_id}/${endpoint_id}` : event_id;

const SUCCESS_END = 300;

/** A destination that stored the event has neither a status nor an error. */
export const isAccepted = ({ http_status, error }: Pick<Attempt, 'http_status' | 'error'>) =>
  error === null && (http_status === null || http_status < SUCCESS_END);

/** `HTTP 503`, `timeout` or, of a destination, `stored`. */
export const answerOf = ({ http_status, error }: Pick<Attempt, 'http_status' | 'error'>): string =>
  error ?? (http_status === null ? 'stored' : `HTTP ${http_status}`);

/** How the delivery to an endpoint stands, of which the log has the attempts only. */
export function stateOf(attempts: readonly Attempt[]): string | null {
  const last = attempts.at(-1);
  return last ? (isAccepted(last) ? 'delivered' : 'failed') : null;
}
