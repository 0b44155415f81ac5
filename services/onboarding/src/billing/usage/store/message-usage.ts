// Messages by partner, UTC day and category, in two collections: one record per message, so that no
// status counts twice, and the counters. A batch is written to the messages first, with its counter
// changes as `pending`; once the counters have them, they are removed. `addPendingCounts` adds what
// a crash left pending, and each counter record lists the batches it contains, so that none is
// added twice.
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';
import { groupBy } from '@bmg/common/collections';
import { contentId, newId } from '@bmg/common/ids';
import {
  countStatus,
  nothingKnown,
  type CountedField,
  type MessageFacts,
  type StatusFacts,
  type Step,
} from '../message-counts';
import { dayStart } from '@bmg/common/time';
import type { DayRange } from '../period';
import { USAGE_KEPT_DAYS } from './endpoint-usage';

type PartnerStep = Step & { partner_id: string };

interface CountedMessage extends MessageFacts {
  _id: string;
  /** Revision: a write based on an older one is refused. */
  rev: number;
  pending: Array<PartnerStep & { batch: string }>;
  /** Since when changes are pending; absent without any. */
  pending_at?: Date;
  updated_at: Date;
}

export type CategoryCounts = Partial<Record<CountedField, number>>;

export interface MessageDay {
  _id: string;
  partner_id: string;
  day: string;
  day_at: Date;
  categories: Record<string, CategoryCounts>;
  applied: string[];
}

interface Rows {
  messages: Collection<CountedMessage>;
  days: Collection<MessageDay>;
}

export interface MessageStatusSeen extends StatusFacts {
  partner_id: string;
  message_id: string;
}

export const COUNTED_MESSAGES = 'counted_messages';
export const MESSAGE_USAGE = 'message_usage';
/** The upstream repeats statuses for days, and a read receipt may come weeks later. */
const MESSAGES_KEPT_DAYS = 40;
export const messageUsageIndexes: Indexes = {
  [COUNTED_MESSAGES]: [
    { key: { pending_at: 1 }, sparse: true },
    { key: { updated_at: 1 }, expireAfterSeconds: MESSAGES_KEPT_DAYS * 86_400 },
  ],
  [MESSAGE_USAGE]: [
    { key: { partner_id: 1, day: 1 } },
    { key: { day_at: 1 }, expireAfterSeconds: USAGE_KEPT_DAYS * 86_400 },
  ],
};

const BATCH_MAX = 500;
/** Far longer than a batch takes: the worker of an older one has crashed. */
const ABANDONED_AFTER_MS = 60_000;
const ABANDONED_MAX = 20;
/**
 * Batches kept per record: those of two replicas in twice the time after which a batch is
 * abandoned, at one a second. Each batch reads and stores the whole record: few ids make it cheap.
 */
const APPLIED_MAX = 300;

export function createMessageUsage(db: Db) {
  const rows: Rows = {
    messages: db.collection(COUNTED_MESSAGES),
    days: db.collection(MESSAGE_USAGE),
  };
  const { messages, days } = rows;
  /** The counts of each day with a message, the oldest first. */
  const listDays = (partner_id: string, { from_day, to_day }: DayRange) =>
    days
      .find({ partner_id, day: { $gte: from_day, $lte: to_day } })
      .project<Pick<MessageDay, 'day' | 'categories'>>({ _id: 0, day: 1, categories: 1 })
      .sort({ day: 1 })
      .limit(USAGE_KEPT_DAYS)
      .toArray();
  return {
    /** Throws if another worker counts one of the messages at the same time: try again. */
    async count(statuses: MessageStatusSeen[], now: Date) {
      for (let start = 0; start < statuses.length; start += BATCH_MAX) {
        await countBatch(rows, statuses.slice(start, start + BATCH_MAX), now);
      }
    },
    /** Adds counter changes that a crash left pending. Returns the number of batches. */
    async addPendingCounts(now: Date) {
      const left = await messages
        .find({ pending_at: { $lte: new Date(now.getTime() - ABANDONED_AFTER_MS) } })
        .limit(ABANDONED_MAX)
        .toArray();
      const batches = new Set(left.flatMap(({ pending }) => pending.map(({ batch }) => batch)));
      for (const batch of batches) {
        // A counter takes each batch once, so all of its messages are needed.
        const whole = await messages
          .find({ pending_at: { $exists: true }, 'pending.batch': batch }, { limit: BATCH_MAX })
          .toArray();
        const steps = whole.flatMap(({ pending }) => pending.filter((one) => one.batch === batch));
        const ids = whole.map(({ _id }) => _id);
        await addToDays(rows, batch, steps, false);
        await takeOff(rows, batch, ids);
      }
      return batches.size;
    },
    listDays,
    async sum(partner_id: string, range: DayRange) {
      const totals: Record<string, CategoryCounts> = {};
      for (const { categories } of await listDays(partner_id, range)) {
        for (const [category, counts] of Object.entries(categories)) {
          const total = (totals[category] ??= {});
          for (const [field, count] of Object.entries(counts) as Array<[CountedField, number]>) {
            total[field] = (total[field] ?? 0) + count;
          }
        }
      }
      return totals;
    },
  };
}

async function countBatch(rows: Rows, statuses: MessageStatusSeen[], now: Date): Promise<void> {
  const { messages } = rows;
  const batch = newId('cnt');
  const ids = [...new Set(statuses.map(idOf))];
  const found = await messages.find({ _id: { $in: ids } }).toArray();
  const before = new Map(found.map((message) => [message._id, message]));
  const changes = changesOf(statuses, before);
  if (changes.size === 0) return;
  const pending_at = now;
  const { matchedCount, insertedCount } = await messages.bulkWrite(
    [...changes].map(([_id, { facts, steps, partner_id }]) => {
      const pending = steps.map((step) => ({ ...step, batch, partner_id }));
      const known = before.get(_id);
      return known
        ? {
            updateOne: {
              filter: { _id, rev: known.rev },
              update: {
                $set: { ...facts, pending_at, updated_at: now },
                $push: { pending: { $each: pending } },
                $inc: { rev: 1 },
              },
            },
          }
        : {
            insertOne: {
              document: { _id, ...facts, rev: 1, pending, pending_at, updated_at: now },
            },
          };
    }) as AnyBulkWriteOperation<CountedMessage>[],
    { ordered: false },
  );
  // Another worker changed one of the messages in the meantime: the bus retries the batch.
  if (matchedCount + insertedCount < changes.size) {
    throw new Error('a message was counted by another worker at the same time');
  }
  const steps = [...changes.values()].flatMap(({ steps: made, partner_id }) =>
    made.map((step) => ({ ...step, partner_id })),
  );
  await addToDays(rows, batch, steps, true);
  await takeOff(rows, batch, [...changes.keys()]);
}

/** `is_new`: no counter has the batch. */
async function addToDays(
  { days }: Rows,
  batch: string,
  steps: PartnerStep[],
  is_new: boolean,
): Promise<void> {
  const byDay = groupBy(steps, ({ partner_id, day }) => `${partner_id}/${day}`);
  if (!is_new) {
    const applied = await days
      .find({ _id: { $in: [...byDay.keys()] }, applied: batch })
      .project<Pick<MessageDay, '_id'>>({ _id: 1 })
      .toArray();
    for (const { _id } of applied) byDay.delete(_id);
  }
  if (byDay.size === 0) return;
  await days.bulkWrite(
    [...byDay].map(([_id, made]) => {
      const { partner_id, day } = made[0] as PartnerStep;
      return {
        updateOne: {
          filter: { _id, applied: { $ne: batch } },
          update: {
            $setOnInsert: { partner_id, day, day_at: dayStart(day) },
            $inc: incrementsOf(made),
            $push: { applied: { $each: [batch], $slice: -APPLIED_MAX } },
          } as object,
          upsert: true,
        },
      };
    }),
    { ordered: false },
  );
}

async function takeOff({ messages }: Rows, batch: string, ids: string[]): Promise<void> {
  // Nearly always a message has no changes of another batch.
  const { matchedCount } = await messages.updateMany(
    {
      _id: { $in: ids },
      'pending.batch': batch,
      pending: { $not: { $elemMatch: { batch: { $ne: batch } } } },
    },
    { $set: { pending: [] }, $unset: { pending_at: '' } },
  );
  if (matchedCount === ids.length) return;
  await messages.updateMany({ _id: { $in: ids } }, { $pull: { pending: { batch } } });
  await messages.updateMany(
    { _id: { $in: ids }, pending: { $size: 0 } },
    { $unset: { pending_at: '' } },
  );
}

const idOf = ({ partner_id, message_id }: MessageStatusSeen): string =>
  contentId('msg', partner_id, message_id);

interface Change {
  partner_id: string;
  facts: MessageFacts;
  steps: Step[];
}

/** The change of each message, from its statuses in order. */
function changesOf(
  statuses: MessageStatusSeen[],
  before: ReadonlyMap<string, MessageFacts>,
): Map<string, Change> {
  const changes = new Map<string, Change>();
  for (const status of statuses) {
    const _id = idOf(status);
    const earlier = changes.get(_id);
    const { facts, steps } = countStatus(
      earlier?.facts ?? before.get(_id) ?? nothingKnown(),
      status,
    );
    if (steps.length === 0 && !earlier) continue;
    changes.set(_id, {
      partner_id: status.partner_id,
      facts,
      steps: [...(earlier?.steps ?? []), ...steps],
    });
  }
  return changes;
}

function incrementsOf(steps: Step[]): Record<string, number> {
  const increments: Record<string, number> = {};
  for (const { category, field, by } of steps) {
    // The upstream names the category: escape it, so that it stays one field name.
    const path = `categories.${category.replace(/[^\w-]/g, '_').slice(0, 64)}.${field}`;
    increments[path] = (increments[path] ?? 0) + by;
  }
  return increments;
}
