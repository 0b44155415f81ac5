// A delivery that this process schedules, and its forms: Kafka message, database row, attempt.
import type { Unsettled } from '@bmg/common/bus';
import { numberKey } from '@bmg/common/ids';
import type { ReceiverEndpoint } from '@bmg/proto/onboarding';
import type { Delivery } from '@bmg/proto/stream';
import type { Attempt } from './attempt';
import type { LaneItem } from './lane';
import { deliveryKey, eventOfKey, receiverKey } from './receiver-key';
import { RETENTION_MS, type Ending } from './settle';
import type { StoredDelivery, WaitingDelivery } from './store';

export interface TrackedDelivery extends LaneItem {
  /** Undefined for the partner's webhook URL. */
  endpoint_id: string | undefined;
  /** False for an endpoint without order. */
  is_ordered: boolean;
  /** The time that the endpoint's maximum rate leaves for the next attempt, in epoch ms. */
  paced_until: number | undefined;
  /** The Kafka message, until the delivery is persisted or done and its offset may be committed. */
  uncommitted: Unsettled<Delivery> | undefined;
  /** The Kafka messages to settle: more than one if Kafka redelivered the message. */
  copies: Unsettled<Delivery>[];
  /** A write to the store is in flight. */
  persisting: boolean;
  /** True once a row may exist, which has to be removed when the delivery is done. */
  has_row: boolean;
  /** Set once the delivery is done, until its row is removed: no attempt follows. */
  ending: Ending | undefined;
}

/** A conversation ends in its contact; both spellings of a number share a lane. */
function laneOf(receiver: string, conversation: string): string {
  const contact_at = conversation.lastIndexOf('|') + 1;
  const contact = numberKey(conversation.slice(contact_at));
  return `${receiver}|${conversation.slice(0, contact_at)}${contact}`;
}

/** From a Kafka message, for an endpoint or the webhook URL; `now` in epoch milliseconds. */
export function trackedMessage(
  received: Unsettled<Delivery>,
  now: number,
  endpoint?: ReceiverEndpoint,
): TrackedDelivery {
  const { partner_id, conversation } = received.message;
  const endpoint_id = endpoint?.endpoint_id;
  const event_id = deliveryKey(received.message.event_id, endpoint_id);
  const receiver = endpoint && receiverKey({ partner_id, endpoint_id });
  const is_ordered = endpoint?.ordered ?? true;
  return {
    event_id,
    partner_id,
    endpoint_id,
    receiver,
    is_ordered,
    paced_until: undefined,
    lane: laneOf(receiver ?? partner_id, is_ordered ? conversation : event_id),
    partition: received.partition,
    order: Number(received.offset),
    arrived_at: now,
    attempts: 0,
    next_attempt_at: 0,
    uncommitted: received,
    copies: [received],
    persisting: false,
    has_row: false,
    ending: undefined,
  };
}

/** The receiver of a row, as in `LaneItem`. */
export const receiverOfRow = ({ partner_id, endpoint_id }: WaitingDelivery): string | undefined =>
  endpoint_id ? receiverKey({ partner_id, endpoint_id }) : undefined;

/** A row without an order has a lane of its own, named after the delivery. */
const isOrdered = ({ conversation, _id }: Pick<WaitingDelivery, 'conversation' | '_id'>): boolean =>
  conversation !== _id;

export const trackedRow = (row: WaitingDelivery): TrackedDelivery => ({
  event_id: row._id,
  partner_id: row.partner_id,
  endpoint_id: row.endpoint_id ?? undefined,
  receiver: receiverOfRow(row),
  is_ordered: isOrdered(row),
  paced_until: undefined,
  lane: laneOf(receiverOfRow(row) ?? row.partner_id, row.conversation),
  partition: row.partition,
  order: row.order,
  arrived_at: row.created_at.getTime(),
  attempts: row.attempts,
  next_attempt_at: row.next_attempt_at?.getTime() ?? 0,
  uncommitted: undefined,
  copies: [],
  persisting: false,
  has_row: true,
  ending: undefined,
});

export const attemptFromMessage = (
  { attempts, endpoint_id, is_ordered }: TrackedDelivery,
  { message, span, published_at_ms, read_at_ms }: Unsettled<Delivery>,
): Attempt => ({
  event_id: message.event_id,
  partner_id: message.partner_id,
  endpoint_id,
  event: message.event,
  waba_id: message.waba_id,
  body: asBuffer(message.body),
  received_at_ms: message.received_at_ms,
  ordering_key: is_ordered ? message.conversation : undefined,
  number: attempts + 1,
  span,
  ...(attempts === 0 && {
    way: {
      received: message.received_at_ms,
      webhook_published: message.webhook_published_at_ms,
      webhook_read: message.webhook_read_at_ms,
      delivery_published: published_at_ms,
      delivery_read: read_at_ms,
    },
  }),
});

export const attemptFromRow = (row: StoredDelivery, number: number): Attempt => ({
  event_id: eventOfKey(row._id),
  partner_id: row.partner_id,
  endpoint_id: row.endpoint_id ?? undefined,
  event: row.event,
  waba_id: row.waba_id,
  body: Buffer.from(row.body, 'utf8'),
  received_at_ms: row.received_at.getTime(),
  ordering_key: isOrdered(row) ? row.conversation : undefined,
  number,
  span: undefined,
});

export function rowOf(delivery: TrackedDelivery, { message }: Unsettled<Delivery>): StoredDelivery {
  return {
    _id: delivery.event_id,
    partner_id: message.partner_id,
    ...(delivery.endpoint_id !== undefined && { endpoint_id: delivery.endpoint_id }),
    event: message.event,
    waba_id: message.waba_id,
    phone_number_id: message.phone_number_id ?? null,
    // Its own for each delivery that keeps no order: a lane for each.
    conversation: delivery.is_ordered ? message.conversation : delivery.event_id,
    partition: delivery.partition,
    order: delivery.order,
    body: asBuffer(message.body).toString('utf8'),
    status: 'retrying',
    attempts: delivery.attempts,
    created_at: new Date(delivery.arrived_at),
    received_at: new Date(message.received_at_ms),
    last_attempt_at: null,
    next_attempt_at: new Date(delivery.arrived_at),
    last_http_status: null,
    last_error: null,
    expires_at: new Date(delivery.arrived_at + RETENTION_MS),
  };
}

/** A view of the same bytes, not a copy. */
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
