// Calls and errors by partner, UTC day and endpoint. One record per partner and day holds the
// counters and the IDs of the usage messages counted in them, so that a repeated message changes
// nothing.
import { isDuplicateKey } from '@bmg/common/mongo';
import type { AnyBulkWriteOperation, Collection, Db, IndexDescription } from 'mongodb';
import type { Usage } from '@bmg/proto/stream';
import { dayStart } from '@bmg/common/time';
import type { DayRange } from '../period';

interface EndpointDay {
  _id: string;
  partner_id: string;
  day: string;
  /** Start of the day, for the TTL index. */
  day_at: Date;
  rows: Record<string, { calls: number; errors: number }>;
  applied: string[];
}

export interface EndpointCount {
  endpoint: string;
  calls: number;
  errors: number;
}

export interface EndpointUsage {
  add(messages: Usage[]): Promise<void>;
  sum(partner_id: string, range: DayRange): Promise<EndpointCount[]>;
}

export const ENDPOINT_USAGE = 'endpoint_usage';
export const USAGE_KEPT_DAYS = 400;
export const endpointUsageIndexes: IndexDescription[] = [
  { key: { partner_id: 1, day: 1 } },
  { key: { day_at: 1 }, expireAfterSeconds: USAGE_KEPT_DAYS * 86_400 },
];

/**
 * IDs kept per record, and always those of the last write. Only messages uncommitted when a consumer
 * crashed are repeated: two seconds of one message per second and gateway replica; ten of ten
 * replicas have room. Each write reads and stores the whole record, once a second for every partner
 * that calls: few IDs make it cheap.
 */
const APPLIED_MAX = 100;

/** Escapes dots and dollar signs, which MongoDB reads as a path or an operator. */
const encodeName = (name: string): string =>
  name.replace(/[%.$]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
const decodeName = (key: string): string => decodeURIComponent(key);

export function createEndpointUsage(db: Db): EndpointUsage {
  const days: Collection<EndpointDay> = db.collection(ENDPOINT_USAGE);
  return {
    async add(messages) {
      const byDay = new Map<string, Usage[]>();
      for (const message of messages) {
        const _id = `${message.partner_id}/${message.day}`;
        byDay.set(_id, [...(byDay.get(_id) ?? []), message]);
      }
      const addAll = async (applied: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> => {
        const operations = [...byDay].flatMap(([_id, group]) =>
          additionOf(_id, withoutRepeats(group, applied.get(_id) ?? new Set())),
        );
        if (operations.length > 0) await days.bulkWrite(operations, { ordered: false });
      };
      try {
        await addAll(new Map());
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // Some messages are counted already, or a part of them was just now.
        const known = await days
          .find({ _id: { $in: [...byDay.keys()] } })
          .project<Pick<EndpointDay, '_id' | 'applied'>>({ applied: 1 })
          .toArray();
        // If another worker counts the same message first, the insert fails and the bus retries
        // the batch.
        await addAll(new Map(known.map((day) => [day._id, new Set(day.applied)])));
      }
    },
    async sum(partner_id, { from_day, to_day }) {
      const found = await days
        .find({ partner_id, day: { $gte: from_day, $lte: to_day } })
        .project<Pick<EndpointDay, 'rows'>>({ rows: 1 })
        .limit(USAGE_KEPT_DAYS)
        .toArray();
      const totals = new Map<string, EndpointCount>();
      for (const { rows } of found) {
        for (const [key, { calls, errors }] of Object.entries(rows)) {
          const endpoint = decodeName(key);
          const total = totals.get(endpoint) ?? { endpoint, calls: 0, errors: 0 };
          total.calls += calls;
          total.errors += errors;
          totals.set(endpoint, total);
        }
      }
      return [...totals.values()].sort((a, b) => (a.endpoint < b.endpoint ? -1 : 1));
    },
  };
}

function withoutRepeats(messages: Usage[], applied: ReadonlySet<string>): Usage[] {
  const unique = new Map(messages.map((message) => [message.id, message]));
  return [...unique.values()].filter(({ id }) => !applied.has(id));
}

function additionOf(_id: string, messages: Usage[]): AnyBulkWriteOperation<EndpointDay>[] {
  const [first] = messages;
  if (!first) return [];
  const increments: Record<string, number> = {};
  for (const { rows } of messages) {
    for (const { endpoint, calls, errors } of rows) {
      const path = `rows.${encodeName(endpoint)}`;
      increments[`${path}.calls`] = (increments[`${path}.calls`] ?? 0) + calls;
      increments[`${path}.errors`] = (increments[`${path}.errors`] ?? 0) + errors;
    }
  }
  const ids = messages.map(({ id }) => id);
  const { partner_id, day } = first;
  return [
    {
      updateOne: {
        filter: { _id, applied: { $nin: ids } },
        update: {
          $setOnInsert: { partner_id, day, day_at: dayStart(day) },
          ...(Object.keys(increments).length > 0 && { $inc: increments }),
          $push: { applied: { $each: ids, $slice: -Math.max(APPLIED_MAX, ids.length) } },
        } as object,
        upsert: true,
      },
    },
  ];
}
