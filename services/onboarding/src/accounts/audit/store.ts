// The audit log: one record for each change that a key, a console session or the operator began.
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

/** Changes that a partner began on one day (UTC). */
interface DayCount {
  /** `<partner_id> <YYYY-MM-DD>`. */
  _id: string;
  changes: number;
  day_at: Date;
}

export interface AuditLog {
  insert(entry: AuditEntry): Promise<void>;
  /** Counts a change that the partner begins; returns how many it has begun on that day (UTC). */
  count(partner_id: string, at: Date): Promise<number>;
  /** Stores an outcome; the first one stays. */
  end(id: string, end: AuditEnd, at: Date): Promise<void>;
  /** Newest first, from behind the position on. */
  page(filter: AuditFilter, after: AuditPosition | undefined, limit: number): Promise<AuditEntry[]>;
}

export const AUDIT_LOG = 'audit_log';
const AUDIT_KEPT_DAYS = 400;
export const auditLogIndexes: IndexDescription[] = [
  { key: { partner_id: 1, at: -1, _id: -1 } },
  { key: { partner_id: 1, target_ids: 1, at: -1, _id: -1 } },
  { key: { partner_id: 1, 'actor.id': 1, at: -1, _id: -1 } },
  { key: { at: -1, _id: -1 } },
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
    async count(partner_id, at) {
      const day = at.toISOString().slice(0, 10);
      const counted = await counts.findOneAndUpdate(
        { _id: `${partner_id} ${day}` },
        { $inc: { changes: 1 }, $setOnInsert: { day_at: new Date(day) } },
        { upsert: true, returnDocument: 'after' },
      );
      return counted?.changes ?? 1;
    },
    async insert(entry) {
      await entries.insertOne(entry);
    },
    async end(_id, { outcome, code, target, waba_id, partner_id }, ended_at) {
      const named = Object.fromEntries(
        Object.entries(target).map(([name, id]) => [`target.${name}`, id]),
      );
      await entries.updateOne(
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
      );
    },
    page: (filter, after, limit) =>
      entries.find(queryOf(filter, after)).sort({ at: -1, _id: -1 }).limit(limit).toArray(),
  };
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
