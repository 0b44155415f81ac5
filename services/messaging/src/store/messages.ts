// Message records: one document per send, written in batches and updated by status events.
import type {
  AnyBulkWriteOperation,
  Collection,
  Db,
  IndexDescription,
  UpdateFilter,
} from 'mongodb';
import { statusesBelow, type MessageStatus } from '@bmg/common/messages';
import { createBatchWriter, isDuplicateKey } from '@bmg/common/mongo';
import { metrics } from '@bmg/common/telemetry';
import { saysAnything, type ChargeFacts } from '../ledger/charge';

/** A record starts as `accepted`; a status raises it and never lowers it. */
export type RecordStatus = 'accepted' | MessageStatus;

/** One status as it came. */
export interface StatusRecord {
  /** The upstream's time. */
  at: Date;
  received_at: Date;
  /** A higher status came first. */
  superseded?: true;
  /** Read from the upstream's message history. */
  reconciled?: true;
  /** The upstream's code of a failure. */
  error_code?: string;
  trace_id?: string;
  /** In a group: the participant that it concerns. */
  participant?: string;
}

/** How the send came in, and what the upstream answered; absent in records made from a status. */
export interface SendTrace {
  /** X-Request-Id of the partner's request. */
  http_request_id?: string;
  /** As the partner gave it. */
  idempotency_key?: string;
  trace_id?: string;
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
  kind: string;
  /** Of a template. */
  template?: { name: string; language: string };
  recipient: string;
  status: RecordStatus;
  sent_at: Date;
  updated_at: Date;
  send?: SendTrace;
  /** The first status of a record that was created after its month was closed. */
  late_since?: Date;
  /** Every status that has come; absent before the first. */
  statuses?: Partial<Record<MessageStatus, StatusRecord>>;
  /** In a group: the statuses that a participant before had reached already, in order of arrival. */
  participants?: Array<StatusRecord & { status: MessageStatus }>;
  /** When to ask the upstream for missing statuses; absent once nothing is expected any more. */
  check_at?: Date;
  /** How often the upstream was asked. */
  checks?: number;
}

export interface StatusUpdate {
  phone_number_id: string;
  message_id: string;
  status: MessageStatus;
  at: Date;
  received_at: Date;
  reconciled: boolean;
  error_code?: string | undefined;
  trace_id?: string | undefined;
  participant?: string | undefined;
  /** What the status says about the price. */
  charge?: ChargeFacts;
  /** From our callback data. Creates the record if a crash prevented the send from storing it. */
  rebuild?: Pick<MessageRecord, '_id' | 'partner_id' | 'waba_id' | 'recipient'>;
}

export interface Messages {
  /** Resolves once the record is stored; concurrent records share one write. */
  record(message: MessageRecord): Promise<void>;
  find(phone_number_id: string, message_id: string): Promise<MessageRecord | null>;
  findByRequest(scope: NumberScope, request_id: string): Promise<MessageRecord | null>;
  applyStatuses(updates: StatusUpdate[]): Promise<void>;
  /** How many customers a partner's templates of an account went to since a time. */
  countTemplateRecipients(scope: AccountScope, since: Date): Promise<number>;
  drain(): Promise<void>;
}

export interface AccountScope {
  partner_id: string;
  waba_id: string;
}

export interface NumberScope {
  partner_id: string;
  phone_number_id: string;
}

/** A closed month never changes: what comes later goes into the current month. */
export interface ClosedMonths {
  /** The first moment after the closed months; undefined if none is closed. */
  end(): Promise<Date | undefined>;
  /** Statuses of messages that were sent in a closed month, in their order. */
  addLate(late: LateStatus[]): Promise<void>;
}

export interface LateStatus {
  record: MessageRecord;
  update: StatusUpdate & { charge: ChargeFacts };
}

const NONE_CLOSED: ClosedMonths = { end: async () => undefined, addLate: async () => undefined };

const COUNT_LIMIT_MS = 1_000;

/** The kind of a record created from a status, which does not tell what was sent. */
export const REBUILT = 'unknown';
/** While the database is unavailable, records wait in memory and are retried at this interval. */
const RETRY_MS = 1_000;
/** Minimum time between batches: one more command costs far more than one more document. */
const BATCHES_APART_MS = 4;
/** Bounds a record: a group has 8 participants, each with up to 4 statuses. */
export const PARTICIPANT_STATUSES_MAX = 100;
const KEPT_DAYS = 90;
const DAY_S = 86_400;

export const MESSAGES = 'messages';
export const messageIndexes: IndexDescription[] = [
  { key: { message_id: 1 } },
  // GET /v1/messages and the ledger; one account's are in the index of the daily counts.
  { key: { partner_id: 1, sent_at: 1, _id: 1 } },
  { key: { partner_id: 1, recipient: 1 } },
  { key: { sent_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
  { key: { check_at: 1 }, sparse: true },
];
/** No status comes after these. */
const FINAL: ReadonlySet<RecordStatus> = new Set(['read', 'failed']);

const collection = (db: Db): Collection<MessageRecord> => db.collection(MESSAGES);

/**
 * `check_after_ms`: when the upstream is asked for a record's missing statuses; 0 is never. Longer than
 * 70 lines: one short method for each query.
 */
export function createMessages(
  db: Db,
  check_after_ms = 0,
  closed: ClosedMonths = NONE_CLOSED,
): Messages {
  const messages = collection(db);
  const checkAt = (sent_at: Date): { check_at?: Date } =>
    check_after_ms === 0 ? {} : { check_at: new Date(sent_at.getTime() + check_after_ms) };
  /** Returns how many operations found no record. */
  const bulk = async (operations: AnyBulkWriteOperation<MessageRecord>[]): Promise<number> => {
    if (operations.length === 0) return 0;
    try {
      const done = await messages.bulkWrite(operations, { ordered: false });
      return operations.length - done.matchedCount - done.upsertedCount;
    } catch (error) {
      // A concurrent upsert has stored the same id.
      if (!isDuplicateKey(error)) throw error;
      return operations.length;
    }
  };
  const writer = createBatchWriter<MessageRecord>(
    async (records) => {
      const complete = records.map((record) => ({ ...record, ...checkAt(record.sent_at) }));
      try {
        await messages.insertMany(complete, { ordered: false });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // Statuses created some of the records first.
        await bulk(records.flatMap(completing));
      }
      metrics.messages_recorded.inc(records.length);
    },
    { retry_ms: RETRY_MS, apart_ms: BATCHES_APART_MS },
  );
  return {
    record: (message) => writer.add(message),
    drain: () => writer.drain(),
    find: (phone_number_id, message_id) => messages.findOne({ message_id, phone_number_id }),
    async countTemplateRecipients({ partner_id, waba_id }, since) {
      const [counted] = await messages
        .aggregate<{ people: number }>(
          [
            { $match: { partner_id, waba_id, sent_at: { $gte: since }, kind: 'template' } },
            { $group: { _id: '$recipient' } },
            { $group: { _id: null, people: { $sum: 1 } } },
          ],
          { maxTimeMS: COUNT_LIMIT_MS },
        )
        .toArray();
      return counted?.people ?? 0;
    },
    findByRequest: ({ partner_id, phone_number_id }, request_id) =>
      messages.findOne({ partner_id, phone_number_id, _id: request_id }),
    async applyStatuses(updates) {
      const closed_until = await closed.end();
      const unmatched = await bulk(
        updates.flatMap((update) => [
          ...rebuilding(update, checkAt(update.at), closed_until),
          raising(update, closed_until),
        ]),
      );
      if (unmatched === 0) return;
      // Repetitions, statuses that came after a higher one, and statuses of closed months.
      const late = closed_until ? await findLate(updates, closed_until) : [];
      if (late.length > 0) {
        await closed.addLate(late);
        await bulk(late.map(({ update: { charge: _charge, ...status } }) => raising(status)));
      }
      await bulk(
        updates.flatMap((update) => [superseding(update), ...charging(update, closed_until)]),
      );
    },
  };

  async function findLate(updates: StatusUpdate[], closed_until: Date): Promise<LateStatus[]> {
    const charging = updates.filter(isCharging);
    if (charging.length === 0) return [];
    const sent_at = { $lt: closed_until };
    const phone_number_id = { $in: charging.map((update) => update.phone_number_id) };
    const ours = charging.flatMap(({ rebuild }) => rebuild ?? []);
    const partner_id = { $in: ours.map((rebuild) => rebuild.partner_id) };
    const ids = { $in: ours.map(({ _id }) => _id) };
    const message_id = {
      $in: charging.flatMap((update) => (update.rebuild ? [] : [update.message_id])),
    };
    const records = (
      await Promise.all([
        messages.find({ partner_id, phone_number_id, _id: ids, sent_at }).toArray(),
        messages.find({ phone_number_id, message_id, sent_at }).toArray(),
      ])
    ).flat();
    const byKey = new Map(
      records.flatMap((record) => [
        [textOf(keyOf({ ...record, rebuild: record })), record],
        [textOf(keyOf(record)), record],
      ]),
    );
    return charging.flatMap((update) => {
      const record = byKey.get(textOf(keyOf(update)));
      return record ? [{ record, update }] : [];
    });
  }
}

type Operation = AnyBulkWriteOperation<MessageRecord>;

/**
 * Stores a send whose id is taken by a record made from a status: keeps the statuses of the same message,
 * and replaces a record of any other message, which only forged callback data can make.
 */
function completing(record: MessageRecord): Operation[] {
  const { _id, partner_id, phone_number_id, message_id, status: _status, ...fields } = record;
  const own = { partner_id, phone_number_id, message_id };
  return [
    {
      updateOne: { filter: { ...own, _id, kind: REBUILT }, update: { $set: fields } },
    },
    {
      replaceOne: { filter: { _id, kind: REBUILT, $nor: [own] }, replacement: record },
    },
  ];
}

/** A closed month gets no further messages: one that it lacks is entered when its status comes. */
function rebuilding(
  update: StatusUpdate,
  check: { check_at?: Date },
  closed_until: Date | undefined,
): Operation[] {
  const { at, received_at, rebuild } = update;
  if (!rebuild) return [];
  const { waba_id, recipient } = rebuild;
  const record = { waba_id, recipient, kind: REBUILT, status: 'accepted' as const, ...check };
  const is_late = closed_until !== undefined && at < closed_until;
  const times = {
    sent_at: is_late ? latest(received_at, closed_until) : at,
    updated_at: at,
    ...(is_late && { late_since: at }),
  };
  const created = { $setOnInsert: { ...record, ...times } };
  return [{ updateOne: { filter: keyOf(update), update: created, upsert: true } }];
}

const latest = (one: Date, other: Date): Date => (one > other ? one : other);

type StatusKey = Pick<MessageRecord, 'phone_number_id' | 'message_id'> &
  Partial<Pick<MessageRecord, 'partner_id' | '_id'>>;

/**
 * The only record that a status may change. Callback data is as trustworthy as the sender, who may have
 * an upstream token: a request id names a record only together with its partner, number and message.
 */
const keyOf = ({
  phone_number_id,
  message_id,
  rebuild,
}: Pick<StatusUpdate, 'phone_number_id' | 'message_id'> & {
  rebuild?: Pick<MessageRecord, '_id' | 'partner_id'> | undefined;
}): StatusKey =>
  rebuild
    ? { partner_id: rebuild.partner_id, phone_number_id, _id: rebuild._id, message_id }
    : { phone_number_id, message_id };

const textOf = (key: StatusKey): string => JSON.stringify(key);

const recordOf = (update: StatusUpdate): StatusRecord => {
  const { at, received_at, reconciled, error_code, trace_id, participant } = update;
  return {
    at,
    received_at,
    ...(reconciled && { reconciled }),
    ...(error_code !== undefined && { error_code }),
    ...(trace_id !== undefined && { trace_id }),
    ...(participant !== undefined && { participant }),
  };
};

const isCharging = (update: StatusUpdate): update is StatusUpdate & { charge: ChargeFacts } =>
  update.charge !== undefined && saysAnything(update.charge);

/** A status that says something about the price changes no record of a closed month. */
function raising(update: StatusUpdate, closed_until?: Date): Operation {
  const { status, at, charge } = update;
  const lower: RecordStatus[] = ['accepted', ...statusesBelow(status)];
  const change: UpdateFilter<MessageRecord> = {
    $set: { status, updated_at: at, [`statuses.${status}`]: recordOf(update), ...charge },
    ...(FINAL.has(status) && { $unset: { check_at: true } }),
  };
  return {
    updateOne: {
      filter: { ...keyOf(update), status: { $in: lower }, ...openOnly(update, closed_until) },
      update: change,
    },
  };
}

/** Does nothing for a status that the record has. */
function superseding(update: StatusUpdate): Operation {
  if (update.participant !== undefined) return further(update, update.participant);
  const field = `statuses.${update.status}`;
  return {
    updateOne: {
      filter: { ...keyOf(update), [field]: { $exists: false } },
      update: { $set: { [field]: { ...recordOf(update), superseded: true } } },
    },
  };
}

/** A status that the record has of another participant. */
function further(update: StatusUpdate, participant: string): Operation {
  const { status } = update;
  const known = { $elemMatch: { participant, status } };
  return {
    updateOne: {
      filter: {
        ...keyOf(update),
        [`statuses.${status}.participant`]: { $ne: participant },
        participants: { $not: known },
        [`participants.${PARTICIPANT_STATUSES_MAX - 1}`]: { $exists: false },
      },
      update: { $push: { participants: { ...recordOf(update), status } } },
    },
  };
}

const openOnly = (update: StatusUpdate, closed_until: Date | undefined): object =>
  closed_until && isCharging(update) ? { sent_at: { $gte: closed_until } } : {};

/** What a status that came after a higher one says about the price. */
function charging(update: StatusUpdate, closed_until: Date | undefined): Operation[] {
  if (!isCharging(update)) return [];
  const { pricing, arrived } = update.charge;
  const open = { ...keyOf(update), ...openOnly(update, closed_until) };
  const set = (filter: object, fields: object): Operation => ({
    updateOne: { filter: { ...open, ...filter }, update: { $set: fields } },
  });
  return [
    ...(pricing ? [set({ 'pricing.rank': { $not: { $gte: pricing.rank } } }, { pricing })] : []),
    ...(arrived ? [set({ arrived: { $exists: false } }, { arrived })] : []),
  ];
}
