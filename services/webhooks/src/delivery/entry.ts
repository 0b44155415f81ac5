// An event on its way to a partner, as the dispatcher keeps it, and its form in the store.
import type { Unsettled } from '@bmg/common/bus';
import type { Delivery } from '@bmg/proto/stream';
import type { Outcome, Posting } from './attempt';
import type { Item } from './lanes';
import type { StoredDelivery, Waiting } from '../store/deliveries';

export interface Entry extends Item {
  /** Kept only while the event is not stored. */
  fresh: Unsettled<Delivery> | undefined;
  /** Offsets that wait for this event: more than one when Kafka handed it out again. */
  done: Array<() => void>;
  storing: boolean;
  /** True once a row may exist: it is to be removed when the receiver has the event. */
  has_row: boolean;
  /** Set once the receiver has it, until the store knows too: it is not posted again. */
  delivered: Outcome | undefined;
}

/** How long an event can be read after it has failed, and at the most while it waits. */
export const KEPT_MS = 30 * 86_400_000;

const laneOf = (partner_id: string, conversation: string): string =>
  `${partner_id}|${conversation}`;

export function freshEntry(one: Unsettled<Delivery>, now: number): Entry {
  const { event_id, partner_id, conversation } = one.message;
  return {
    event_id,
    partner_id,
    lane: laneOf(partner_id, conversation),
    partition: one.partition,
    order: Number(one.offset),
    arrived_at: now,
    attempts: 0,
    next_attempt_at: 0,
    fresh: one,
    done: [one.done],
    storing: false,
    has_row: false,
    delivered: undefined,
  };
}

export const waitingEntry = (row: Waiting): Entry => ({
  event_id: row._id,
  partner_id: row.partner_id,
  lane: laneOf(row.partner_id, row.conversation),
  partition: row.partition,
  order: row.order,
  arrived_at: row.created_at.getTime(),
  attempts: row.attempts,
  next_attempt_at: row.next_attempt_at?.getTime() ?? 0,
  fresh: undefined,
  done: [],
  storing: false,
  has_row: true,
  delivered: undefined,
});

export const freshPosting = (
  { attempts }: Entry,
  { message, span }: Unsettled<Delivery>,
): Posting => ({
  event_id: message.event_id,
  partner_id: message.partner_id,
  event: message.event,
  body: asBuffer(message.body),
  received_at_ms: message.received_at_ms,
  attempt: attempts + 1,
  span,
});

export const storedPosting = (row: StoredDelivery, attempt: number): Posting => ({
  event_id: row._id,
  partner_id: row.partner_id,
  event: row.event,
  body: Buffer.from(row.body, 'utf8'),
  received_at_ms: row.received_at.getTime(),
  attempt,
  span: undefined,
});

export function rowOf(entry: Entry, { message }: Unsettled<Delivery>): StoredDelivery {
  return {
    _id: message.event_id,
    partner_id: message.partner_id,
    event: message.event,
    waba_id: message.waba_id,
    phone_number_id: message.phone_number_id ?? null,
    conversation: message.conversation,
    partition: entry.partition,
    order: entry.order,
    body: asBuffer(message.body).toString('utf8'),
    status: 'retrying',
    attempts: entry.attempts,
    created_at: new Date(entry.arrived_at),
    received_at: new Date(message.received_at_ms),
    last_attempt_at: null,
    next_attempt_at: new Date(entry.arrived_at),
    last_http_status: null,
    last_error: null,
    expires_at: new Date(entry.arrived_at + KEPT_MS),
  };
}

/** The same bytes, not a copy of them. */
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
