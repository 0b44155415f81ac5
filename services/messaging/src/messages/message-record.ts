// The message record: one document for each send, and its indexes.
import type { Collection, Db, IndexDescription } from 'mongodb';
import type { MessageStatus } from '@bmg/common/messages';
import type { ChargeFacts } from '../pricing';

/** A record starts as `accepted`; a status raises it and never lowers it. */
export type RecordStatus = 'accepted' | MessageStatus;

export interface StatusRecord {
  /** The upstream's time. */
  at: Date;
  received_at: Date;
  /** A higher status arrived first. */
  superseded?: true;
  /** Read from the upstream's message history. */
  reconciled?: true;
  /** The upstream's code of a failure. */
  error_code?: string;
  trace_id?: string;
  /** In a group: the participant whose status it is. */
  participant?: string;
}

/** The request of the send, and the upstream's answer; absent in records made from a status. */
export interface SendTrace {
  /** X-Request-Id of the partner's request. */
  http_request_id?: string;
  /** Spelled as the partner gave it. */
  idempotency_key?: string;
  trace_id?: string;
  /** For the links of its statuses' traces. */
  span_id?: string;
  /** A contact of a broadcast. */
  broadcast?: true;
  upstream: { http_status: number; duration_ms: number; trace_id?: string };
}

export interface MessageRecord extends ChargeFacts {
  /** Our request id, which the upstream echoes in biz_opaque_callback_data. */
  _id: string;
  partner_id: string;
  waba_id: string;
  phone_number_id: string;
  message_id: string;
  /** The status in the upstream's answer, if delivery is paced. */
  message_status?: string;
  kind: string;
  /** Only templates have it. */
  template?: { name: string; language: string };
  recipient: string;
  status: RecordStatus;
  sent_at: Date;
  updated_at: Date;
  send?: SendTrace;
  /** The first status of a record that was created after its month was closed. */
  late_since?: Date;
  /** Every received status; absent before the first. */
  statuses?: Partial<Record<MessageStatus, StatusRecord>>;
  /** In a group: statuses that an earlier participant had reached, in order of arrival. */
  participants?: Array<StatusRecord & { status: MessageStatus }>;
  /** When gap repair reads missing statuses from the upstream; absent once none is expected. */
  check_at?: Date;
  /** Attempts of gap repair so far. */
  checks?: number;
}

/** The kind of a record created from a status, whose content is not known. */
export const REBUILT = 'unknown';
export const MESSAGES_KEPT_DAYS = 90;
const DAY_S = 86_400;

export const MESSAGES = 'messages';
export const messageIndexes: IndexDescription[] = [
  { key: { message_id: 1 } },
  // GET /v1/messages and the ledger.
  { key: { partner_id: 1, sent_at: 1, _id: 1 } },
  // GET /v1/messages of one account; covers the daily counts, so that counting never reads a
  // record.
  { key: { partner_id: 1, waba_id: 1, sent_at: 1, _id: 1, status: 1 } },
  { key: { partner_id: 1, recipient: 1 } },
  { key: { sent_at: 1 }, expireAfterSeconds: MESSAGES_KEPT_DAYS * DAY_S },
  { key: { check_at: 1 }, sparse: true },
];

export const messageRecords = (db: Db): Collection<MessageRecord> => db.collection(MESSAGES);
