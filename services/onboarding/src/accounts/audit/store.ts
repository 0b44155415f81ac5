// The audit log: one record for each change that a key, a console session or the operator began, and
// for attempts that were refused.
import { createHash } from 'node:crypto';
import { isDuplicateKey } from '@bmg/common/mongo';
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';

export const OUTCOMES = ['succeeded', 'failed', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type Values = Record<string, unknown>;

export interface AuditEntry {
  _id: string;
  at: Date;
  /** Null for a change of the platform. */
  partner_id: string | null;
  actor: { type: string; id: string | null; name: string | null };
  action: string;
  /** IDs of what is changed, by name. */
  target: Record<string, string>;
  /** The same IDs without their names, for the index. */
  target_ids: string[];
  waba_id: string | null;
  /** Names of the fields that were given. */
  fields: string[];
  before: Values | null;
  after: Values | null;
  /** `unknown` until the outcome is stored: the change may have been made. */
  outcome: Outcome;
  /** The error code of a failure. */
  code: string | null;
  request_id: string;
  address: string | null;
  ended_at: Date | null;
  /** It takes part of the quota, which is given back if the change ends in 404. */
  counted?: true;
  /** The changes that the record stands for; absent for one. */
  count?: number;
  /** Part of the hash of what can name a person; absent once it is erased, and before release 2.10. */
  salt?: string;
}

export interface AuditEnd {
  outcome: Outcome;
  code: string | null;
  target: Record<string, string>;
  waba_id?: string | undefined;
  partner_id?: string | undefined;
}

/** A partner, or null for all of them and the platform. */
export interface AuditFilter {
  partner_id: string | null;
  waba_id?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
}

/** Where a page ends. */
export interface AuditPosition {
  at: Date;
  id: string;
}

/** Counts of one day (UTC): those of programs (keys and links) are apart in a partner's. */
export interface DayCounts {
  changes: number;
  program_changes: number;
  /** Changes that are never refused, log-ins apart. */
  reserved: number;
  program_reserved: number;
  log_ins: number;
  refusals: number;
}

interface DayCount extends Partial<DayCounts> {
  /** `<holder> <YYYY-MM-DD>`: the holder is a partner, or one of its keys, links or people. */
  _id: string;
  day_at: Date;
}

export interface AuditLog {
  insert(entry: AuditEntry): Promise<void>;
  /**
   * Counts a change, or several, in the record of the day's further changes like it, which keeps the outcome of the
   * latest. Returns the ID of the record.
   */
  repeat(entry: AuditEntry): Promise<string>;
  /** Adds to a count of the day (UTC) and returns the day's counts. */
  count(holder: string, field: keyof DayCounts, at: Date, by?: 1 | -1): Promise<DayCounts>;
  /** Stores an outcome; the first one stays. Returns the record, unless it had its outcome. */
  end(id: string, end: AuditEnd, at: Date): Promise<AuditEntry | undefined>;
  remove(id: string): Promise<void>;
  /** Those whose outcome was stored after `from`, until `to`, the oldest first. */
  endedBetween(from: Date, to: Date, limit: number): Promise<AuditEntry[]>;
  /** Those without an outcome that began after `from`, until `to`, the oldest first. */
  openBetween(from: Date, to: Date, limit: number): Promise<AuditEntry[]>;
  byIds(ids: readonly string[]): Promise<AuditEntry[]>;
  /** Removes what can name a person from the records that it made or that concern it. Returns their number. */
  erase(partner_id: string, person_id: string): Promise<number>;
  /** Newest first, from behind the position on. */
  page(filter: AuditFilter, after: AuditPosition | undefined, limit: number): Promise<AuditEntry[]>;
}

export const AUDIT_LOG = 'audit_log';
export const AUDIT_KEPT_DAYS = 400;
export const auditLogIndexes: IndexDescription[] = [
  { key: { partner_id: 1, at: -1, _id: -1 } },
  { key: { partner_id: 1, target_ids: 1, at: -1, _id: -1 } },
  { key: { partner_id: 1, 'actor.id': 1, at: -1, _id: -1 } },
  { key: { action: 1, at: -1, _id: -1 } },
  { key: { at: -1, _id: -1 } },
  { key: { ended_at: 1, at: 1 } },
  { key: { at: 1 }, expireAfterSeconds: AUDIT_KEPT_DAYS * 86_400 },
];

export const AUDIT_COUNTS = 'audit_counts';
export const auditCountIndexes: IndexDescription[] = [
  { key: { day_at: 1 }, expireAfterSeconds: 2 * 86_400 },
];

export function createAuditLog(db: Db): AuditLog {
  const entries: Collection<AuditEntry> = db.collection(AUDIT_LOG);
  const counts: Collection<DayCount> = db.collection(AUDIT_COUNTS);
  return {
    async count(holder, field, at, by = 1) {
      const day = dayOf(at);
      const counted = await counts.findOneAndUpdate(
        { _id: `${holder} ${day}` },
        { $inc: { [field]: by }, $setOnInsert: { day_at: new Date(day) } },
        { upsert: true, returnDocument: 'after' },
      );
      return { ...NOTHING, ...counted };
    },
    async insert(entry) {
      await entries.insertOne(entry);
    },
    async repeat({ counted: _counted, count = 1, ...entry }) {
      const _id = idOfRepeats(entry);
      const { outcome, code, ended_at, ...first } = { ...entry, _id };
      const repeat = (): Promise<unknown> =>
        entries.updateOne(
          { _id },
          { $set: { outcome, code, ended_at }, $setOnInsert: first, $inc: { count } },
          { upsert: true },
        );
      await repeat().catch((error: unknown) => {
        // Another replica has just inserted it.
        if (isDuplicateKey(error)) return repeat();
        throw error;
      });
      return _id;
    },
    async end(_id, { outcome, code, target, waba_id, partner_id }, ended_at) {
      const named = Object.fromEntries(
        Object.entries(target).map(([name, id]) => [`target.${name}`, id]),
      );
      const ended = await entries.findOneAndUpdate(
        { _id, ended_at: null },
        {
          $set: {
            outcome,
            code,
            ended_at,
            ...named,
            ...(waba_id !== undefined && { waba_id }),
            ...(partner_id !== undefined && { partner_id }),
          },
          $addToSet: { target_ids: { $each: Object.values(target) } },
        },
        { returnDocument: 'after' },
      );
      return ended ?? undefined;
    },
    async remove(_id) {
      await entries.deleteOne({ _id });
    },
    ...queriesOfChain(entries),
    page: (filter, after, limit) =>
      entries.find(queryOf(filter, after)).sort({ at: -1, _id: -1 }).limit(limit).toArray(),
  };
}

const queriesOfChain = (
  entries: Collection<AuditEntry>,
): Pick<AuditLog, 'endedBetween' | 'openBetween' | 'byIds' | 'erase'> => ({
  endedBetween: (from, to, limit) =>
    entries
      .find({ ended_at: { $gt: from, $lte: to } })
      .sort({ ended_at: 1, at: 1 })
      .limit(limit)
      .toArray(),
  openBetween: (from, to, limit) =>
    entries
      .find({ ended_at: null, at: { $gt: from, $lte: to } })
      .sort({ at: 1 })
      .limit(limit)
      .toArray(),
  byIds: (ids) => entries.find({ _id: { $in: [...ids] } }).toArray(),
  async erase(partner_id, person_id) {
    const nothing = { 'actor.name': null, address: null, before: null, after: null };
    const remove = { $set: nothing, $unset: { salt: 1 } } as const;
    const [made, of_it] = await Promise.all([
      entries.updateMany({ partner_id, 'actor.id': person_id }, remove),
      entries.updateMany({ partner_id, target_ids: person_id }, remove),
    ]);
    return made.modifiedCount + of_it.modifiedCount;
  },
});

const NOTHING: DayCounts = {
  changes: 0,
  program_changes: 0,
  reserved: 0,
  program_reserved: 0,
  log_ins: 0,
  refusals: 0,
};

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The same for all changes of a day that one record stands for. */
function idOfRepeats({ at, partner_id, actor, action, code }: AuditEntry): string {
  const like = [partner_id, dayOf(at), actor.type, actor.id, action, code];
  return `aud_${createHash('sha256').update(JSON.stringify(like)).digest('hex').slice(0, 26)}`;
}

function queryOf(
  { partner_id, waba_id, from, to, actor, action, target }: AuditFilter,
  after: AuditPosition | undefined,
): Filter<AuditEntry> {
  const conditions: Array<Filter<AuditEntry>> = [
    ...(partner_id === null ? [] : [{ partner_id }]),
    ...(waba_id === undefined ? [] : [{ waba_id }]),
    ...(from ? [{ at: { $gte: from } }] : []),
    ...(to ? [{ at: { $lte: to } }] : []),
    ...(actor === undefined ? [] : [{ $or: [{ 'actor.type': actor }, { 'actor.id': actor }] }]),
    ...(action === undefined ? [] : [{ action }]),
    ...(target === undefined ? [] : [{ target_ids: target }]),
    ...(after
      ? [{ $or: [{ at: { $lt: after.at } }, { at: after.at, _id: { $lt: after.id } }] }]
      : []),
  ];
  return conditions.length === 0 ? {} : { $and: conditions };
}
