// Calls and errors by partner, UTC day, method and endpoint. One record per partner and day holds
// the counters and the number of the last report of each gateway process, so that a report that is
// published or read twice changes nothing.
import { groupBy } from '@bmg/common/collections';
import { isDuplicateKey, type Indexes } from '@bmg/common/mongo';
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import type { Usage, Usage_Row } from '@bmg/proto/stream';
import { dayStart } from '@bmg/common/time';
import type { DayRange } from '../period';

interface EndpointDay {
  _id: string;
  partner_id: string;
  day: string;
  /** Start of the day, for the TTL index. */
  day_at: Date;
  /** A key names method and endpoint. */
  rows: Record<string, { calls: number; errors: number }>;
  /** The number of the last report counted, by gateway process. */
  processes?: Record<string, number>;
  /** The IDs of counted reports of gateways before 2.11.0, which have no number. */
  applied?: string[];
}

type Counted = Pick<EndpointDay, 'processes' | 'applied'>;

export interface EndpointCount {
  /** Absent for calls that gateways before 2.11.0 counted. */
  method?: string;
  endpoint: string;
  calls: number;
  errors: number;
}

export const ENDPOINT_USAGE = 'endpoint_usage';
export const USAGE_KEPT_DAYS = 400;
export const endpointUsageIndexes: Indexes = {
  [ENDPOINT_USAGE]: [
    { key: { partner_id: 1, day: 1 } },
    { key: { day_at: 1 }, expireAfterSeconds: USAGE_KEPT_DAYS * 86_400 },
  ],
};

/**
 * IDs kept per record, and always those of the last write. Only messages uncommitted when a
 * consumer crashed are repeated: two seconds of one message per second and gateway replica; ten of
 * ten replicas have room. Each write reads and stores the whole record, once a second for every
 * partner that calls: few IDs make it cheap.
 */
const APPLIED_MAX = 100;
const DAY_MS = 86_400_000;
/** Far above the retention of the topic: no report of an older day is read again. */
const NUMBERS_KEPT_DAYS = 8;
/** Records that a longer outage leaves out keep a few bytes each until they expire. */
const FORGOTTEN_WITHIN_DAYS = 2;

/** Escapes dots and dollar signs, which MongoDB reads as a path or an operator. */
const keyOf = ({ method, endpoint }: Usage_Row): string =>
  (method === undefined ? endpoint : `${method} ${endpoint}`).replace(
    /[%.$]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );

function namesOf(key: string): Pick<EndpointCount, 'method' | 'endpoint'> {
  const name = decodeURIComponent(key);
  const [, method, endpoint] = /^([A-Z]+) (.*)$/.exec(name) ?? [];
  return method !== undefined && endpoint !== undefined ? { method, endpoint } : { endpoint: name };
}

const orderOf = ({ endpoint, method = '' }: EndpointCount): string => `${endpoint} ${method}`;

export function createEndpointUsage(db: Db) {
  const days: Collection<EndpointDay> = db.collection(ENDPOINT_USAGE);
  return {
    async add(messages: Usage[]) {
      const byDay = groupBy(messages, ({ partner_id, day }) => `${partner_id}/${day}`);
      const addAll = async (counted: ReadonlyMap<string, Counted>): Promise<void> => {
        const operations = [...byDay].flatMap(([_id, group]) =>
          additionOf(_id, withoutRepeats(group, counted.get(_id) ?? {})),
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
          .project<Counted & Pick<EndpointDay, '_id'>>({ processes: 1, applied: 1 })
          .toArray();
        // If another worker counts the same message first, the insert fails and the bus retries
        // the batch.
        await addAll(new Map(known.map((day) => [day._id, day])));
      }
    },
    /** Drops the numbers of reports that can no longer be read again. */
    async forgetReports(now: Date) {
      const until = now.getTime() - NUMBERS_KEPT_DAYS * DAY_MS;
      await days.updateMany(
        {
          day_at: { $gte: new Date(until - FORGOTTEN_WITHIN_DAYS * DAY_MS), $lt: new Date(until) },
          $or: [{ processes: { $exists: true } }, { applied: { $exists: true } }],
        },
        { $unset: { processes: '', applied: '' } },
      );
    },
    async sum(partner_id: string, { from_day, to_day }: DayRange) {
      const found = await days
        .find({ partner_id, day: { $gte: from_day, $lte: to_day } })
        .project<Pick<EndpointDay, 'rows'>>({ rows: 1 })
        .limit(USAGE_KEPT_DAYS)
        .toArray();
      const totals = new Map<string, EndpointCount>();
      for (const { rows } of found) {
        for (const [key, { calls, errors }] of Object.entries(rows)) {
          const total = totals.get(key) ?? { ...namesOf(key), calls: 0, errors: 0 };
          total.calls += calls;
          total.errors += errors;
          totals.set(key, total);
        }
      }
      return [...totals.values()].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    },
  };
}

/** Numbers of one process rise, so one that is not above the last counted one is a repetition. */
function withoutRepeats(messages: Usage[], { processes = {}, applied = [] }: Counted): Usage[] {
  const ids = new Set(applied);
  const last = new Map(Object.entries(processes));
  return messages.filter(({ id, process, sequence }) => {
    if (ids.has(id)) return false;
    if (process === undefined || sequence === undefined) {
      ids.add(id);
      return true;
    }
    if (sequence <= (last.get(process) ?? 0)) return false;
    last.set(process, sequence);
    return true;
  });
}

function additionOf(_id: string, messages: Usage[]): AnyBulkWriteOperation<EndpointDay>[] {
  const [first] = messages;
  if (!first) return [];
  const increments: Record<string, number> = {};
  const unnumbered: string[] = [];
  const notCounted: Record<string, object> = {};
  const last: Record<string, number> = {};
  for (const { id, rows, process, sequence } of messages) {
    for (const row of rows) {
      const { calls, errors } = row;
      const path = `rows.${keyOf(row)}`;
      increments[`${path}.calls`] = (increments[`${path}.calls`] ?? 0) + calls;
      increments[`${path}.errors`] = (increments[`${path}.errors`] ?? 0) + errors;
    }
    if (process === undefined || sequence === undefined) unnumbered.push(id);
    else {
      notCounted[`processes.${process}`] ??= { $not: { $gte: sequence } };
      last[`processes.${process}`] = sequence;
    }
  }
  const { partner_id, day } = first;
  const slice = -Math.max(APPLIED_MAX, unnumbered.length);
  return [
    {
      updateOne: {
        // An earlier release may have counted numbered reports by their ids.
        filter: { _id, applied: { $nin: messages.map(({ id }) => id) }, ...notCounted },
        update: {
          $setOnInsert: { partner_id, day, day_at: dayStart(day) },
          ...(Object.keys(increments).length > 0 && { $inc: increments }),
          ...(Object.keys(last).length > 0 && { $set: last }),
          ...(unnumbered.length > 0 && {
            $push: { applied: { $each: unnumbered, $slice: slice } },
          }),
        } as object,
        upsert: true,
      },
    },
  ];
}
