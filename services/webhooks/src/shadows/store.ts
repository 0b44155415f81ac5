// The collection `shadows`: the comparison of a partner's receiver with a second URL that gets
// copies of its events. Onboarding has the URL itself, and decides which shadow runs. One replica
// at a time sends the last day's events, under a lease; live ones are added by all replicas.
import type { Collection, Db } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';
import { remembered } from '../ground/additions';
import { bucketOf, isDifferent, kindOf, type Compared } from './answers';

export type ShadowStatus = 'running' | 'completed' | 'expired' | 'stopped';

export interface StoredShadow {
  _id: string;
  partner_id: string;
  /** Null: compared with the webhook URL. */
  endpoint_id: string | null;
  source: string;
  /** The address without its query. */
  url: string;
  max_per_second: number;
  header_names: string[];
  status: ShadowStatus;
  created_at: Date;
  ends_at: Date;
  ended_at: Date | null;
  /** The last position of the last day's events, and the one up to which all are done. */
  last: number;
  position: number;
  /** Positions above `position` that are done. */
  ahead: number[];
  owner: string;
  /** When a replica may work on its events or its end. Absent once it has ended. */
  leased_until?: Date;
  compared: number;
  different: number;
  /** Events that the shadow did not get. */
  dropped: number;
  /** Keyed by the kinds of both answers, `<first>/<shadow>`. */
  answers: Record<string, number>;
  /** Times by bucket. */
  first_ms: Record<string, number>;
  shadow_ms: Record<string, number>;
  /** The oldest first. */
  differences: Compared[];
  /** The latest additions, the oldest first. */
  added: string[];
  expires_at: Date;
}

/** Null stands for an event that was dropped. */
export type Result = Compared | null;

export interface ShadowProgress {
  position?: number;
  ahead?: number[];
  leased_until?: Date;
  /** Added to the comparison in the same write, so that an event counts once. */
  results?: Result[];
}

/** Shadows that are kept of one partner. */
const SHADOWS_KEPT_MAX = 20;
/** Events that were answered differently. */
const DIFFERENCES_MAX = 100;
/** After its end. */
export const SHADOW_KEPT_MS = 7 * 86_400_000;

export const SHADOWS = 'shadows';
export const shadowIndexes: Indexes = {
  [SHADOWS]: [
    { key: { partner_id: 1, _id: 1 } },
    { key: { leased_until: 1 }, sparse: true },
    { key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};

export type Shadows = ReturnType<typeof createShadows>;

export function createShadows(db: Db) {
  const shadows: Collection<StoredShadow> = db.collection(SHADOWS);
  return {
    /** Stores it, and removes the partner's oldest ones beyond SHADOWS_KEPT_MAX. */
    async insert(shadow: StoredShadow): Promise<void> {
      await shadows.insertOne(shadow);
      const { partner_id } = shadow;
      const old = await shadows
        .find({ partner_id }, { projection: { _id: 1 } })
        .sort({ _id: -1 })
        .skip(SHADOWS_KEPT_MAX)
        .toArray();
      if (old.length > 0) await shadows.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
    },
    /** The newest first, without their differences. */
    list: (partner_id: string): Promise<StoredShadow[]> =>
      shadows
        .find({ partner_id })
        .project<StoredShadow>({ differences: 0, added: 0 })
        .sort({ _id: -1 })
        .limit(SHADOWS_KEPT_MAX)
        .toArray(),
    find: (partner_id: string, _id: string) => shadows.findOne({ _id, partner_id }),
    /** An addition that is repeated counts once. */
    async add(_id: string, addition_id: string, results: Result[]): Promise<void> {
      const { $inc, $push } = additionOf(results);
      await shadows.updateOne(
        { _id, added: { $ne: addition_id } },
        { $inc, $push: { ...$push, added: remembered(addition_id) } },
      );
    },
    /** Claims the free shadow that has waited longest. */
    claim: (owner: string, now: Date, leased_until: Date) =>
      shadows.findOneAndUpdate(
        { leased_until: { $lt: now } },
        { $set: { owner, leased_until } },
        { sort: { leased_until: 1 }, returnDocument: 'after' },
      ),
    /** False if another replica has taken over, or the shadow has ended. */
    async update(
      { _id, owner }: StoredShadow,
      { results = [], ...progress }: ShadowProgress,
    ): Promise<boolean> {
      const { matchedCount } = await shadows.updateOne(
        { _id, owner, status: 'running' },
        { $set: progress, ...(results.length > 0 && additionOf(results)) },
      );
      return matchedCount === 1;
    },
    /** Lets a replica work on it now. */
    async release(_id: string): Promise<void> {
      await shadows.updateOne({ _id, status: 'running' }, { $set: { leased_until: new Date(0) } });
    },
    /** Has no effect on one that has ended. */
    async end(_id: string, status: ShadowStatus, ended_at: Date): Promise<void> {
      const expires_at = new Date(ended_at.getTime() + SHADOW_KEPT_MS);
      await shadows.updateOne(
        { _id, status: 'running' },
        { $set: { status, ended_at, expires_at }, $unset: { leased_until: '' } },
      );
    },
    async remove(_id: string): Promise<void> {
      await shadows.deleteOne({ _id });
    },
  };
}

/** What these results add to a comparison. */
function additionOf(results: Result[]) {
  const compared = results.filter((one) => one !== null);
  const differences = compared.filter(isDifferent);
  const $inc: Record<string, number> = {
    compared: compared.length,
    different: differences.length,
    dropped: results.length - compared.length,
  };
  const count = (field: string): void => void ($inc[field] = ($inc[field] ?? 0) + 1);
  for (const { first, shadow } of compared) {
    count(`answers.${kindOf(first)}/${kindOf(shadow)}`);
    count(`first_ms.${bucketOf(first.duration_ms)}`);
    count(`shadow_ms.${bucketOf(shadow.duration_ms)}`);
  }
  return { $inc, $push: { differences: { $each: differences, $slice: -DIFFERENCES_MAX } } };
}
