// The audit log: one record for each change that a key, a console session or the operator began,
// and for attempts that were refused; and the links of its chain.
import { createHash } from 'node:crypto';
import { storeOnce, upsert, type Indexes } from '@bmg/common/mongo';
import { dayOf } from '@bmg/common/time';
import type { ListAuditRecordsRequest } from '@bmg/proto/audit';
import type { Collection, Db, Filter } from 'mongodb';
import { changeOne } from '../../ground/insert';

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
  /** Those IDs, for the index, which has no names. */
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
  /** Part of the hash of personal data; absent once erased, and before release 2.10. */
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
export type AuditFilter = Omit<ListAuditRecordsRequest, 'partner_id' | 'limit' | 'cursor'> & {
  partner_id: string | null;
};

/** Where a page ends. */
export interface AuditPosition {
  at: Date;
  id: string;
}

const NOTHING = {
  changes: 0,
  program_changes: 0,
  /** Changes that are never refused, log-ins apart. */
  reserved: 0,
  program_reserved: 0,
  log_ins: 0,
  refusals: 0,
};

/** Counts of one day (UTC): those of programs (keys and links) are apart in a partner's. */
type DayCounts = typeof NOTHING;

interface DayCount extends Partial<DayCounts> {
  /** `<holder> <YYYY-MM-DD>`: the holder is a partner, or one of its keys, links or people. */
  _id: string;
  day_at: Date;
}

export type AuditLog = ReturnType<typeof createAuditLog>;

export const AUDIT_LOG = 'audit_log';
export const AUDIT_KEPT_DAYS = 400;

/** Exports in progress. */
export const AUDIT_EXPORTS = {
  server: 'audit',
  reason: 'exports',
  holder: 'partner',
  max: 8,
} as const;

const AUDIT_COUNTS = 'audit_counts';
export const AUDIT_CHAIN = 'audit_chain';
export const auditIndexes: Indexes = {
  [AUDIT_LOG]: [
    { key: { partner_id: 1, at: -1, _id: -1 } },
    { key: { partner_id: 1, target_ids: 1, at: -1, _id: -1 } },
    { key: { partner_id: 1, 'actor.id': 1, at: -1, _id: -1 } },
    { key: { action: 1, at: -1, _id: -1 } },
    { key: { at: -1, _id: -1 } },
    { key: { ended_at: 1, at: 1 } },
    { key: { at: 1 }, expireAfterSeconds: AUDIT_KEPT_DAYS * 86_400 },
  ],
  [AUDIT_COUNTS]: [{ key: { day_at: 1 }, expireAfterSeconds: 2 * 86_400 }],
  [AUDIT_CHAIN]: [
    { key: { unsent: 1, _id: 1 }, sparse: true },
    { key: { at: 1 }, expireAfterSeconds: (AUDIT_KEPT_DAYS + 1) * 86_400 },
  ],
};

export function createAuditLog(db: Db) {
  const entries: Collection<AuditEntry> = db.collection(AUDIT_LOG);
  const counts: Collection<DayCount> = db.collection(AUDIT_COUNTS);
  return {
    /** Adds to a count of the day (UTC) and returns the day's counts. */
    async count(holder: string, field: keyof DayCounts, at: Date, by: 1 | -1 = 1) {
      const day = dayOf(at);
      const counted = await counts.findOneAndUpdate(
        { _id: `${holder} ${day}` },
        { $inc: { [field]: by }, $setOnInsert: { day_at: new Date(day) } },
        { upsert: true, returnDocument: 'after' },
      );
      return { ...NOTHING, ...counted };
    },
    insert: (entry: AuditEntry) => entries.insertOne(entry),
    /**
     * Counts a change, or several, in the record of the day's further changes like it, which keeps
     * the outcome of the latest. Returns the ID of the record.
     */
    async repeat({ counted: _counted, count = 1, ...entry }: AuditEntry) {
      const _id = idOfRepeats(entry);
      const { outcome, code, ended_at, ...first } = { ...entry, _id };
      await upsert(() =>
        entries.updateOne(
          { _id },
          { $set: { outcome, code, ended_at }, $setOnInsert: first, $inc: { count } },
          { upsert: true },
        ),
      );
      return _id;
    },
    /** Stores an outcome; the first one stays. Returns the record, unless it had its outcome. */
    async end(
      _id: string,
      { outcome, code, target, waba_id, partner_id }: AuditEnd,
      ended_at: Date,
    ) {
      const named = Object.fromEntries(
        Object.entries(target).map(([name, id]) => [`target.${name}`, id]),
      );
      const scope = {
        ...(waba_id !== undefined && { waba_id }),
        ...(partner_id !== undefined && { partner_id }),
      };
      return changeOne(
        entries,
        { _id, ended_at: null },
        {
          $set: { outcome, code, ended_at, ...named, ...scope },
          $addToSet: { target_ids: { $each: Object.values(target) } },
        },
      );
    },
    remove: (_id: string) => entries.deleteOne({ _id }),
    ...queriesOfChain(entries),
    /** Newest first, from behind the position on. */
    page: (filter: AuditFilter, after: AuditPosition | undefined, limit: number) =>
      entries.find(queryOf(filter, after)).sort({ at: -1, _id: -1 }).limit(limit).toArray(),
  };
}

const queriesOfChain = (entries: Collection<AuditEntry>) => ({
  /** Those whose outcome was stored after `from`, until `to`, the oldest first. */
  endedBetween: (from: Date, to: Date, limit: number) =>
    entries
      .find({ ended_at: { $gt: from, $lte: to } }, { sort: { ended_at: 1, at: 1 }, limit })
      .toArray(),
  /** Those without an outcome that began after `from`, until `to`, the oldest first. */
  openBetween: (from: Date, to: Date, limit: number) =>
    entries
      .find({ ended_at: null, at: { $gt: from, $lte: to } }, { sort: { at: 1 }, limit })
      .toArray(),
  byIds: (ids: readonly string[]) => entries.find({ _id: { $in: [...ids] } }).toArray(),
  /** Removes what can name a person from its records. Returns how many there were. */
  async erase(partner_id: string, person_id: string) {
    const nothing = { 'actor.name': null, address: null, before: null, after: null };
    const remove = { $set: nothing, $unset: { salt: 1 } } as const;
    const [made, of_it] = await Promise.all([
      entries.updateMany({ partner_id, 'actor.id': person_id }, remove),
      entries.updateMany({ partner_id, target_ids: person_id }, remove),
    ]);
    return made.modifiedCount + of_it.modifiedCount;
  },
});

/** Equal for all changes of a day that one record stands for. */
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

/** What a link keeps of a record. */
export interface Sealed {
  id: string;
  hash: string;
  /**
   * The hash of what can name a person, with the salt of the record. The record loses both when the
   * person is erased, and still fits.
   */
  personal: string;
  /** Its outcome was not stored within OPEN_MS. */
  open: boolean;
}

export interface Link {
  /** 1, 2, … */
  _id: number;
  /** When it was made. */
  at: Date;
  /** It has the records whose outcome was stored after `from`, until `to`. */
  from: Date;
  to: Date;
  /** The hash of the link before; null for the first one. */
  previous: string | null;
  records: Sealed[];
  hash: string;
  /** It waits for the operator's destination. */
  unsent?: true;
}

export function createAuditChain(db: Db) {
  const links: Collection<Link> = db.collection(AUDIT_CHAIN);
  const WAITING = { unsent: true } as const;
  return {
    async newest() {
      return (await links.find().sort({ _id: -1 }).limit(1).next()) ?? undefined;
    },
    /** From this one down, newest first. */
    page: (before: number, limit: number) =>
      links.find({ _id: { $lt: before } }, { sort: { _id: -1 }, limit }).toArray(),
    /** Returns false if another replica has made the link. */
    add: (link: Link) => storeOnce(() => links.insertOne(link)),
    /** The oldest links that wait for the destination. */
    unsent: (limit: number) => links.find(WAITING).sort({ _id: 1 }).limit(limit).toArray(),
    countUnsent: () => links.countDocuments(WAITING),
    noteSent: (number: number) => links.updateOne({ _id: number }, { $unset: { unsent: 1 } }),
  };
}
