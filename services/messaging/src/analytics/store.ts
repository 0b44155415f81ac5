// Counts the sends of a business account by UTC day and status. Counted from the message records,
// so that a repeated status changes nothing. Counts of past days are stored, because a large
// account has many records per day.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { storeOnce } from '@bmg/common/mongo';
import { type MessageRecord, MESSAGES, type RecordStatus } from '../messages';

/** A partner sees only its own sends. */
type CountScope = Pick<MessageRecord, 'partner_id' | 'waba_id'>;

export interface DailyCount {
  /** UTC day, YYYY-MM-DD. */
  date: string;
  /** Messages that the upstream accepted, whatever their status. */
  sent: number;
  /** Includes read messages. */
  delivered: number;
  read: number;
  failed: number;
}

interface StatusCount {
  _id: RecordStatus;
  messages: number;
}

interface StoredCount extends DailyCount {
  _id: string;
  counted_at: Date;
}

export const DAY_S = 86_400;
const DAY_MS = DAY_S * 1_000;
/** Longer than the longest period of GET /analytics. */
const KEPT_DAYS = 100;
/** A stored count may be as old as this share of its day's age: older days change less. */
const STALE_SHARE = 0.02;
const DAYS_AT_ONCE = 8;
const COUNT_LIMIT_MS = 5_000;

export const DAILY_COUNTS = 'daily_counts';
export const dailyCountIndexes: IndexDescription[] = [
  { key: { counted_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
];
const messagesOf = (db: Db): Collection<MessageRecord> => db.collection(MESSAGES);
const storedOf = (db: Db): Collection<StoredCount> => db.collection(DAILY_COUNTS);

export function createDailyCounts(db: Db) {
  const count = async (scope: CountScope, day: number): Promise<DailyCount> => {
    const from = new Date(day * 1_000);
    const groups = await messagesOf(db)
      .aggregate<StatusCount>(
        [
          { $match: { ...scope, sent_at: { $gte: from, $lt: new Date(from.getTime() + DAY_MS) } } },
          { $group: { _id: '$status', messages: { $sum: 1 } } },
        ],
        { maxTimeMS: COUNT_LIMIT_MS },
      )
      .toArray();
    return addUp(day, groups);
  };
  // Another replica may have just stored the same day.
  const store = ({ _id, ...fields }: StoredCount) =>
    storeOnce(() => storedOf(db).updateOne({ _id }, { $set: fields }, { upsert: true }));
  return {
    /** One count per day, in the order of `days`: UTC midnights in epoch seconds. */
    async of(scope: CountScope, days: number[], now: Date): Promise<DailyCount[]> {
      const ids = new Map(days.map((day) => [day, `${scope.partner_id}/${scope.waba_id}/${day}`]));
      const stored = new Map(
        (
          await storedOf(db)
            .find({ _id: { $in: [...ids.values()] } })
            .limit(days.length)
            .toArray()
        ).map((one) => [one._id, one]),
      );
      const one = async (day: number): Promise<DailyCount> => {
        const _id = ids.get(day) as string;
        const known = stored.get(_id);
        if (known && isFresh(day, known.counted_at, now)) {
          const { _id: _own, counted_at: _at, ...counted } = known;
          return counted;
        }
        const counted = await count(scope, day);
        // Today's count changes with every send, so it is not worth storing.
        if (now.getTime() >= day * 1_000 + DAY_MS) {
          await store({ _id, ...counted, counted_at: now });
        }
        return counted;
      };
      const rows: DailyCount[] = [];
      for (let at = 0; at < days.length; at += DAYS_AT_ONCE) {
        rows.push(...(await Promise.all(days.slice(at, at + DAYS_AT_ONCE).map(one))));
      }
      return rows;
    },
  };
}

/** True if a stored count is recent enough: late statuses become rarer as a day ages. */
export const isFresh = (day: number, counted_at: Date, now: Date): boolean =>
  now.getTime() - counted_at.getTime() <= (now.getTime() - day * 1_000) * STALE_SHARE;

/** The count of a day, from the number of messages of each status. */
export function addUp(day: number, groups: StatusCount[]): DailyCount {
  const row: DailyCount = { date: dateOf(day), sent: 0, delivered: 0, read: 0, failed: 0 };
  for (const { _id: status, messages } of groups) {
    row.sent += messages;
    if (status === 'failed') row.failed += messages;
    if (status === 'delivered' || status === 'read') row.delivered += messages;
    if (status === 'read') row.read += messages;
  }
  return row;
}

export const dateOf = (day: number): string => new Date(day * 1_000).toISOString().slice(0, 10);
