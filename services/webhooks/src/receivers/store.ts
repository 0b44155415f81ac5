// How the deliveries to webhook endpoints went: one document for each endpoint, with its latest
// attempts, and one for each endpoint and hour, with counts.
import type { Collection, Db } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';
import { once, remembered } from '../ground/additions';

export interface RecentAttempt {
  event_id: string;
  event: string;
  number: number;
  at: Date;
  duration_ms: number;
  delivered: boolean;
  http_status: number | null;
  error: string | null;
}

export interface StoredHealth {
  _id: string;
  partner_id: string;
  last_success_at?: Date;
  last_failure_at?: Date;
  /** Since when every attempt has failed; absent after a success. */
  failing_since?: Date;
  /** The last failure. */
  last_error?: string | null;
  last_http_status?: number | null;
  /** The oldest first. */
  recent: RecentAttempt[];
  /** The latest additions, the oldest first. */
  added?: string[];
  expires_at: Date;
}

interface StoredHour {
  _id: string;
  endpoint_id: string;
  delivered: number;
  refused: number;
  added?: string[];
  expires_at: Date;
}

/** Attempts of one endpoint, in the order in which they ended. */
export interface Addition {
  /** Unique: an addition that is repeated after an error counts once. */
  id: string;
  partner_id: string;
  endpoint_id: string;
  attempts: RecentAttempt[];
}

/** Attempts kept for each endpoint. */
export const RECENT_MAX = 100;
const HOUR_MS = 3_600_000;
const HOURS_KEPT_MS = 26 * HOUR_MS;
const HEALTH_KEPT_MS = 30 * 24 * HOUR_MS;

const ENDPOINT_HEALTH = 'endpoint_health';
const ENDPOINT_HOURS = 'endpoint_hours';
export const healthIndexes: Indexes = {
  [ENDPOINT_HEALTH]: [
    { key: { failing_since: 1 }, sparse: true },
    { key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
  [ENDPOINT_HOURS]: [
    { key: { endpoint_id: 1, _id: 1 } },
    { key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};

const hourId = (endpoint_id: string, at: Date): string =>
  `${endpoint_id}/${new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS).toISOString()}`;

export type ReceiverHealth = ReturnType<typeof createReceiverHealth>;

export function createReceiverHealth(db: Db) {
  const health: Collection<StoredHealth> = db.collection(ENDPOINT_HEALTH);
  const hours: Collection<StoredHour> = db.collection(ENDPOINT_HOURS);
  return {
    async add({ id, partner_id, endpoint_id, attempts }: Addition): Promise<void> {
      const last = attempts.at(-1);
      if (!last) return;
      const delivered = attempts.filter((one) => one.delivered);
      const { push, ...changes } = changesOf(attempts);
      const added = remembered(id);
      await once(() =>
        health.updateOne(
          { _id: endpoint_id, added: { $ne: id } },
          { ...changes, $setOnInsert: { partner_id }, $push: { recent: push, added } },
          { upsert: true },
        ),
      );
      await once(() =>
        hours.updateOne(
          { _id: hourId(endpoint_id, last.at), added: { $ne: id } },
          {
            $inc: { delivered: delivered.length, refused: attempts.length - delivered.length },
            $setOnInsert: { endpoint_id, expires_at: new Date(last.at.getTime() + HOURS_KEPT_MS) },
            $push: { added },
          },
          { upsert: true },
        ),
      );
    },
    find: (_id: string) => health.findOne({ _id }),
    /** Attempts by their result since a time, to the hour. */
    async countSince(endpoint_id: string, since: Date) {
      const counts = { delivered: 0, refused: 0 };
      const found = hours.find({ endpoint_id, _id: { $gte: hourId(endpoint_id, since) } });
      for await (const hour of found) {
        counts.delivered += hour.delivered;
        counts.refused += hour.refused;
      }
      return counts;
    },
    /** Endpoints that have failed since before `since`, and still failed after `until`. */
    failing: (since: Date, until: Date, limit: number): Promise<StoredHealth[]> =>
      health
        .find({ failing_since: { $lte: since }, last_failure_at: { $gte: until } })
        .project<StoredHealth>({ recent: 0 })
        .limit(limit)
        .toArray(),
    /** Ends the time of failing: the partner changed the endpoint, or it was disabled. */
    async forgive(_id: string): Promise<void> {
      await health.updateOne({ _id }, { $unset: { failing_since: '' } });
    },
    async remove(endpoint_id: string): Promise<void> {
      await health.deleteOne({ _id: endpoint_id });
      await hours.deleteMany({ endpoint_id });
    },
  };
}

/** What these attempts change. A failure starts a time of failing only if none has started. */
function changesOf(attempts: RecentAttempt[]) {
  const success = attempts.findLast((one) => one.delivered);
  const failure = attempts.findLast((one) => !one.delivered);
  const since_success = attempts.slice(success ? attempts.indexOf(success) + 1 : 0);
  const [first_failure] = since_success;
  return {
    push: { $each: attempts, $slice: -RECENT_MAX },
    $set: {
      expires_at: new Date((attempts.at(-1)?.at.getTime() ?? 0) + HEALTH_KEPT_MS),
      ...(success && { last_success_at: success.at }),
      ...(failure && {
        last_failure_at: failure.at,
        last_error: failure.error,
        last_http_status: failure.http_status,
      }),
      // A success ended the time before.
      ...(success && first_failure && { failing_since: first_failure.at }),
    },
    ...(success && !first_failure && { $unset: { failing_since: '' as const } }),
    ...(!success && first_failure && { $min: { failing_since: first_failure.at } }),
  };
}
