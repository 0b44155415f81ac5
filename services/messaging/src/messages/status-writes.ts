// The writes that statuses make to message records, each conditional, so that repeats and late
// statuses change nothing. Pure.
import type { AnyBulkWriteOperation, UpdateFilter } from 'mongodb';
import { groupBy } from '@bmg/common/collections';
import { statusesBelow, type MessageStatus } from '@bmg/common/messages';
import { type ChargeFacts, saysAnything } from '../pricing';
import {
  REBUILT,
  type MessageRecord,
  type RecordStatus,
  type StatusRecord,
} from './message-record';

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
  /** The price that the status adds to its message. */
  charge?: ChargeFacts;
  /** From our callback data. Creates the record if a crash prevented the send from storing it. */
  rebuild?: Pick<MessageRecord, '_id' | 'partner_id' | 'waba_id' | 'recipient'>;
}

/** Bounds a record: a group has 8 participants, each with up to 4 statuses. */
export const PARTICIPANT_STATUSES_MAX = 100;
/** No status comes after these. */
const FINAL: ReadonlySet<RecordStatus> = new Set(['read', 'failed']);

export type Operation = AnyBulkWriteOperation<MessageRecord>;

/**
 * Stores a send whose id is taken by a record made from a status: keeps the statuses of the same
 * message, and replaces a record of any other message, which only forged callback data can make.
 */
export function completing(record: MessageRecord): Operation[] {
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

/**
 * Creates the record of a send that a crash kept from being stored. A closed month gets no further
 * messages: one that it lacks counts in the month in which its status arrives.
 */
export function rebuilding(
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
 * The only record that a status may change. Callback data is as trustworthy as the sender, who may
 * have an upstream token: a request id names a record only together with its partner, number and
 * message.
 */
export const keyOf = ({
  phone_number_id,
  message_id,
  rebuild,
}: Pick<StatusUpdate, 'phone_number_id' | 'message_id'> & {
  rebuild?: Pick<MessageRecord, '_id' | 'partner_id'> | undefined;
}): StatusKey =>
  rebuild
    ? { partner_id: rebuild.partner_id, phone_number_id, _id: rebuild._id, message_id }
    : { phone_number_id, message_id };

export const textOf = (key: StatusKey): string => JSON.stringify(key);

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

export const isCharging = (
  update: StatusUpdate,
): update is StatusUpdate & { charge: ChargeFacts } =>
  update.charge !== undefined && saysAnything(update.charge);

/** Raises the status of a record. A status with a price changes no record of a closed month. */
export const raising = (update: StatusUpdate, closed_until?: Date): Operation =>
  raisingOf([update], closed_until);

/**
 * Raises the statuses of records: statuses of one message that all follow each other with one
 * write, which changes the record only if it has none of them; any others with one write each,
 * because a write of some that does not match would let a later, lower one pass.
 */
export function raisingTogether(updates: StatusUpdate[], closed_until?: Date): Operation[] {
  const of_messages = groupBy(updates, (update) => textOf(keyOf(update)));
  return [...of_messages.values()].flatMap((own) => {
    const rise = own.every((next, i) => i === 0 || follows(own[i - 1] as StatusUpdate, next));
    return rise ? [raisingOf(own, closed_until)] : own.map((one) => raising(one, closed_until));
  });
}

/** In a group each participant has statuses, of which a record keeps one of each kind. */
const follows = (last: StatusUpdate, next: StatusUpdate): boolean =>
  last.participant === undefined &&
  next.participant === undefined &&
  statusesBelow(next.status).includes(last.status);

/** `updates` are of one message, each above the one before it. */
function raisingOf(updates: StatusUpdate[], closed_until: Date | undefined): Operation {
  const lowest = updates[0] as StatusUpdate;
  const { status, at } = updates.at(-1) as StatusUpdate;
  const lower: RecordStatus[] = ['accepted', ...statusesBelow(lowest.status)];
  const fields = updates.map((update) => ({
    [`statuses.${update.status}`]: recordOf(update),
    ...update.charge,
  }));
  const change: UpdateFilter<MessageRecord> = {
    $set: Object.assign({ status, updated_at: at }, ...fields),
    ...(FINAL.has(status) && { $unset: { check_at: true } }),
  };
  return {
    updateOne: {
      filter: {
        ...keyOf(lowest),
        status: { $in: lower },
        ...Object.assign({}, ...updates.map((update) => openOnly(update, closed_until))),
      },
      update: change,
    },
  };
}

/** Adds a status that came after a higher one. Changes nothing if the record has it. */
export function superseding(update: StatusUpdate): Operation {
  if (update.participant !== undefined) return further(update, update.participant);
  const field = `statuses.${update.status}`;
  return {
    updateOne: {
      filter: { ...keyOf(update), [field]: { $exists: false } },
      update: { $set: { [field]: { ...recordOf(update), superseded: true } } },
    },
  };
}

/** Adds a status that the record has of another participant. */
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

/** Adds the price of a status that came after a higher one. */
export function charging(update: StatusUpdate, closed_until: Date | undefined): Operation[] {
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
