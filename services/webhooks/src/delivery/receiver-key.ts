// Names the receivers of a partner: its webhook URL, and its further endpoints. A delivery, with
// its lane, its share of attempts and its stored row, belongs to one receiver. Pure functions.
import { DESTINATION_ID_PREFIX } from '@bmg/common/destinations';
import { passesFilter } from '@bmg/common/messages';
import type { ReceiverEndpoint } from '@bmg/proto/onboarding';

export interface ReceiverName {
  partner_id: string;
  /** Undefined for the partner's webhook URL. */
  endpoint_id: string | undefined;
}

/** Neither the IDs of events nor those of partners have it. */
const SEPARATOR = '/';

/** The partner's ID for its webhook URL, so that nothing changes for partners without endpoints. */
export const receiverKey = ({ partner_id, endpoint_id }: ReceiverName): string =>
  endpoint_id === undefined ? partner_id : `${partner_id}${SEPARATOR}${endpoint_id}`;

export function receiverOfKey(key: string): ReceiverName {
  const [partner_id = '', endpoint_id] = key.split(SEPARATOR);
  return { partner_id, endpoint_id };
}

const DESTINATION_MARK = `${SEPARATOR}${DESTINATION_ID_PREFIX}_`;

/** True if the receiver of the key is a topic, queue or bucket instead of a URL. */
export const isDestination = (key: string): boolean => key.includes(DESTINATION_MARK);

/** The key of a delivery: the event's ID, and for an endpoint also the endpoint's. */
export const deliveryKey = (event_id: string, endpoint_id: string | undefined): string =>
  endpoint_id === undefined ? event_id : `${event_id}${SEPARATOR}${endpoint_id}`;

/** The event of a delivery. */
export const eventOfKey = (key: string): string => key.split(SEPARATOR, 1)[0] as string;

/** True if the endpoint gets the event. A disabled one gets none; those of a paused one wait. */
export function isWanted(
  { status, waba_ids, phone_number_ids, ...filter }: ReceiverEndpoint,
  event: { event: string; waba_id: string; phone_number_id?: string | undefined },
): boolean {
  if (status === 'disabled') return false;
  if (!passesFilter(filter, event.event)) return false;
  if (waba_ids.length > 0 && !waba_ids.includes(event.waba_id)) return false;
  return phone_number_ids.length === 0 || phone_number_ids.includes(event.phone_number_id ?? '');
}
