// The observations of all parties of a run, as the checker reads them. An operation is recorded
// when it is invoked and when it completes. Its outcome is `ok`, `fail` (nothing was done) or
// `info` (unknown).

export type Outcome = 'ok' | 'fail' | 'info';

interface Op {
  /** Milliseconds since the start of the run. */
  invoked_ms: number;
  completed_ms: number;
  outcome: Outcome;
  partner: string;
}

/** One request of a caller. Attempts under the same Idempotency-Key share `key`. */
export interface Send extends Op {
  /** A recipient that only this send, or this key, has. */
  to: string;
  key: string | null;
  message_id: string | null;
  /** Status and error code, for people who read the history. */
  answer: string;
  /** The partner's key was replaced before the send was invoked. */
  with_old_key: boolean;
}

export interface Change extends Op {
  kind: 'register' | 'delete' | 'rotate-key' | 'rotate-secret';
}

export interface StatusRead extends Pick<Op, 'invoked_ms' | 'completed_ms'> {
  message_id: string;
  status: string;
}

/** One post of the upstream to the ingress. */
export interface WebhookPost {
  invoked_ms: number;
  completed_ms: number;
  /** 0: no answer. */
  status: number;
  phone_number_id: string;
  /** Keys of the events that it must become: `message.received wamid.1`. */
  events: string[];
}

export interface Arrival {
  partner: string;
  at_ms: number;
  event_id: string;
  event: string;
  waba_id: string | null;
  /** Status of the receiver's answer; 0 for none. */
  answered: number;
  is_signed: boolean;
}

export interface LogEntry {
  seq: number;
  event_id: string;
  event: string;
  waba_id: string | null;
}

export interface Broadcast {
  broadcast_id: number;
  name: string;
  status: string;
  total: number;
  sent: number;
  failed: number;
  contacts: string[];
}

/** The stored state of a partner after the run. */
export interface PartnerEnd {
  name: string;
  /** Numbers that it owned throughout the run. */
  numbers: string[];
  wabas: string[];
  /** Its receiver accepted every event; null without a receiver. */
  receiver: 'healthy' | 'faulty' | null;
  /** Pages of the event log, as its program read them during the run. */
  live_log: LogEntry[];
  log: LogEntry[];
  /** Events that still wait for delivery, or were given up. */
  failed_events: string[];
  messages: Array<{ message_id: string; status: string }>;
  ledger: string[];
}

export interface FaultSpan {
  name: string;
  target: string;
  from_ms: number;
  to_ms: number;
}

export interface History {
  sends: Send[];
  changes: Change[];
  status_reads: StatusRead[];
  upstream: Array<{ id: string; to: string }>;
  webhooks: WebhookPost[];
  /** IDs of the messages of each conversation, in the order in which the ingress accepted them. */
  conversations: string[][];
  arrivals: Arrival[];
  partners: PartnerEnd[];
  broadcasts: Broadcast[];
  /** Log lines with a secret, without the secret. */
  leaks: string[];
  log_lines: number;
  faults: FaultSpan[];
  /**
   * Partitions that a consumer group has not committed to the end: `group topic/partition: 3`. Null
   * if the offsets were not read.
   */
  uncommitted: string[] | null;
  /** Events that a receiver had accepted, posted again after a restart that followed the run. */
  posted_again: string[] | null;
  /** The answer of `GET /health` if it was not `ok` two minutes after the last fault. */
  unhealthy: string | null;
}

/** The key of an event, the same in a webhook, at a receiver and in the log. */
export const eventKey = (event: string, message_id: unknown): string =>
  `${event} ${String(message_id)}`;
