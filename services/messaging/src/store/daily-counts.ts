// Sends of a business account by UTC day and by what became of them. Derived from the message records, so
// that nothing is counted twice however often a status is repeated; the count of a past day is kept, since
// a day of a large account is many records.
import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';
import type { MessageRecord, RecordStatus } from './messages';

/** Who asks: a partner sees what it has sent itself. */
export interface CountScope {
  partner_id: string;
  waba_id: string;
}

export interface DailyCount {
  /** UTC day, YYYY-MM-DD. */
  date: string;
  /** Everything that the upstream accepted, whatever became of it. */
  sent: number;
  /** Read ones are delivered ones too. */
  delivered: number;
  read: number;
  failed: number;
}

export interface DailyCounts {
  /** One row a day, in the order of the days, which are epoch seconds of UTC midnights. */
  of(scope: CountScope, days: number[], now: Date): Promise<DailyCount[]>;
}

interface KeptCount extends DailyCount {
  _id: string;
  counted_at: Date;
}

export const DAY_S = 86_400;
const DAY_MS = DAY_S * 1_000;
/** Longer than any day can be asked for. */
const KEPT_DAYS = 100;
/** The older a day, the less it changes: a count may be this share of its day's age old. */
const FRESH_SHARE = 0.02;
const DAYS_AT_ONCE = 8;
const COUNT_LIMIT_MS = 5_000;

const messagesOf = (db: Db): Collection<MessageRecord> => db.collection('messages');
const keptOf = (db: Db): Collection<KeptCount> => db.collection('daily_counts');

export async function createDailyCountIndexes(db: Db): Promise<void> {
  // Holds everything that counting reads, so that counting never touches a record.
  await messagesOf(db).createIndex({ partner_id: 1, waba_id: 1, sent_at: 1, status: 1 });
  await keptOf(db).createIndex({ counted_at: 1 }, { expireAfterSeconds: KEPT_DAYS * DAY_S });
}

export function createDailyCounts(db: Db): DailyCounts {
  const count = async (scope: CountScope, day: number): Promise<DailyCount> => {
    const from = new Date(day * 1_000);
    const groups = await messagesOf(db)
      .aggregate<{ _id: RecordStatus; messages: number }>(
        [
          { $match: { ...scope, sent_at: { $gte: from, $lt: new Date(from.getTime() + DAY_MS) } } },
          { $group: { _id: '$status', messages: { $sum: 1 } } },
        ],
        { maxTimeMS: COUNT_LIMIT_MS },
      )
      .toArray();
    return addUp(
      day,
      groups.map(({ _id, messages }) => [_id, messages]),
    );
  };
  const keep = async ({ _id, ...fields }: KeptCount): Promise<void> => {
    try {
      await keptOf(db).updateOne({ _id }, { $set: fields }, { upsert: true });
    } catch (error) {
      // Somebody else has just counted the same day.
      if (!isDuplicateKey(error)) throw error;
    }
  };
  return {
    async of(scope, days, now) {
      const ids = new Map(days.map((day) => [day, `${scope.partner_id}/${scope.waba_id}/${day}`]));
      const kept = new Map(
        (
          await keptOf(db)
            .find({ _id: { $in: [...ids.values()] } })
            .limit(days.length)
            .toArray()
        ).map((one) => [one._id, one]),
      );
      const one = async (day: number): Promise<DailyCount> => {
        const _id = ids.get(day) as string;
        const known = kept.get(_id);
        if (known && isFresh(day, known.counted_at, now)) return withoutKeys(known);
        const counted = await count(scope, day);
        // Today's changes with every send: keeping it would be a write for nothing.
        if (now.getTime() >= day * 1_000 + DAY_MS) {
          await keep({ _id, ...counted, counted_at: now });
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

/** Statuses come late, but ever fewer of them. */
export const isFresh = (day: number, counted_at: Date, now: Date): boolean =>
  now.getTime() - counted_at.getTime() <= (now.getTime() - day * 1_000) * FRESH_SHARE;

export function addUp(day: number, groups: Array<[RecordStatus, number]>): DailyCount {
  const row: DailyCount = { date: dateOf(day), sent: 0, delivered: 0, read: 0, failed: 0 };
  for (const [status, messages] of groups) {
    row.sent += messages;
    if (status === 'failed') row.failed += messages;
    if (status === 'delivered' || status === 'read') row.delivered += messages;
    if (status === 'read') row.read += messages;
  }
  return row;
}

export const dateOf = (day: number): string => new Date(day * 1_000).toISOString().slice(0, 10);

const withoutKeys = ({ date, sent, delivered, read, failed }: KeptCount): DailyCount => ({
  date,
  sent,
  delivered,
  read,
  failed,
});
