// Calls and errors by partner, UTC day and endpoint. One record a partner and day holds the counters and
// the ids of the messages that went into them, so that a message which comes again changes nothing.
import type { AnyBulkWriteOperation, Collection, Db, IndexDescription } from 'mongodb';
import type { Usage } from '@bmg/proto/stream';
import { dayStart, type DayRange } from '../usage/period';

interface EndpointDay {
  _id: string;
  partner_id: string;
  day: string;
  /** For the index that removes old days. */
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
 * What may come again is what was not committed when a consumer died: a few seconds of one message a
 * second and gateway replica.
 */
const REMEMBERED_MAX = 1_000;

/** A dot or a dollar sign in a name would be a path or an operator. */
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
      const known = await days
        .find({ _id: { $in: [...byDay.keys()] } })
        .project<Pick<EndpointDay, '_id' | 'applied'>>({ applied: 1 })
        .toArray();
      const applied = new Map(known.map((day) => [day._id, new Set(day.applied)]));
      const operations = [...byDay].flatMap(([_id, group]) =>
        additionOf(_id, withoutRepeats(group, applied.get(_id) ?? new Set())),
      );
      // Where another worker was faster with the same message, the insert collides and all is tried again.
      if (operations.length > 0) await days.bulkWrite(operations, { ordered: false });
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
  const fresh = new Map(messages.map((message) => [message.id, message]));
  return [...fresh.values()].filter(({ id }) => !applied.has(id));
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
          $push: { applied: { $each: ids, $slice: -REMEMBERED_MAX } },
        } as object,
        upsert: true,
      },
    },
  ];
}
