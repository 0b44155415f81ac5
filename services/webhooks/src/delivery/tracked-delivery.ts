// A delivery that this process schedules, and its forms: Kafka message, database row, attempt.
import type { Unsettled } from '@bmg/common/bus';
import type { Delivery } from '@bmg/proto/stream';
import type { Attempt, Outcome } from './attempt';
import type { LaneItem } from './lane';
import type { StoredDelivery, WaitingDelivery } from '../store/deliveries';

export interface TrackedDelivery extends LaneItem {
  /** The Kafka message, until the delivery is persisted or done and its offset may be committed. */
  uncommitted: Unsettled<Delivery> | undefined;
  /** Settle the Kafka offsets: more than one if Kafka redelivered the message. */
  settle_offsets: Array<() => void>;
  /** A write to the store is in flight. */
  persisting: boolean;
  /** True once a row may exist, which has to be removed when the delivery is done. */
  has_row: boolean;
  /** Set once the delivery is done, until its row is removed: no attempt follows. */
  outcome: Outcome | undefined;
}

/** How long a delivery is kept in the store: while it waits, and again after it has failed. */
export const RETENTION_MS = 30 * 86_400_000;

const laneOf = (partner_id: string, conversation: string): string =>
  `${partner_id}|${conversation}`;

/** From a Kafka message; `now` in epoch milliseconds. */
export function trackedMessage(received: Unsettled<Delivery>, now: number): TrackedDelivery {
  const { event_id, partner_id, conversation } = received.message;
  return {
    event_id,
    partner_id,
    lane: laneOf(partner_id, conversation),
    partition: received.partition,
    order: Number(received.offset),
    arrived_at: now,
    attempts: 0,
    next_attempt_at: 0,
    uncommitted: received,
    settle_offsets: [received.done],
    persisting: false,
    has_row: false,
    outcome: undefined,
  };
}

export const trackedRow = (row: WaitingDelivery): TrackedDelivery => ({
  event_id: row._id,
  partner_id: row.partner_id,
  lane: laneOf(row.partner_id, row.conversation),
  partition: row.partition,
  order: row.order,
  arrived_at: row.created_at.getTime(),
  attempts: row.attempts,
  next_attempt_at: row.next_attempt_at?.getTime() ?? 0,
  uncommitted: undefined,
  settle_offsets: [],
  persisting: false,
  has_row: true,
  outcome: undefined,
});

export const attemptFromMessage = (
  { attempts }: TrackedDelivery,
  { message, span }: Unsettled<Delivery>,
): Attempt => ({
  event_id: message.event_id,
  partner_id: message.partner_id,
  event: message.event,
  waba_id: message.waba_id,
  body: asBuffer(message.body),
  received_at_ms: message.received_at_ms,
  number: attempts + 1,
  span,
});

export const attemptFromRow = (row: StoredDelivery, number: number): Attempt => ({
  event_id: row._id,
  partner_id: row.partner_id,
  event: row.event,
  waba_id: row.waba_id,
  body: Buffer.from(row.body, 'utf8'),
  received_at_ms: row.received_at.getTime(),
  number,
  span: undefined,
});

export function rowOf(delivery: TrackedDelivery, { message }: Unsettled<Delivery>): StoredDelivery {
  return {
    _id: message.event_id,
    partner_id: message.partner_id,
    event: message.event,
    waba_id: message.waba_id,
    phone_number_id: message.phone_number_id ?? null,
    conversation: message.conversation,
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
