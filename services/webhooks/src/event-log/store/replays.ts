// The collection `replays`: a partner's requests to deliver logged events again, with their
// progress. One replica at a time works on a replay, under a lease.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';

export type ReplayStatus = 'running' | 'completed' | 'failed';

export interface Replay {
  _id: string;
  partner_id: string;
  /** Absent for the partner's webhook URL. */
  endpoint_id?: string;
  /** The partner while the replay runs, so that an index allows one at a time; absent afterwards. */
  running?: string;
  status: ReplayStatus;
  /** Positions, both included. */
  first: number;
  last: number;
  /** Everything up to here is done. */
  position: number;
  delivered: number;
  /** Positions above `position` that are done. */
  ahead?: number[];
  waba_id: string | null;
  events: string[] | null;
  /** Only these events; null for a range. */
  event_ids: string[] | null;
  created_at: Date;
  ended_at: Date | null;
  failed_event_id: string | null;
  error: string | null;
  owner: string;
  leased_until: Date;
  expires_at: Date;
}

export type Progress = Partial<
  Pick<
    Replay,
    | 'position'
    | 'delivered'
    | 'ahead'
    | 'status'
    | 'failed_event_id'
    | 'error'
    | 'ended_at'
    | 'leased_until'
  >
>;

export interface Replays {
  /** False if another replay of the partner runs. */
  create(replay: Replay): Promise<boolean>;
  find(partner_id: string, replay_id: string): Promise<Replay | null>;
  findRunning(partner_id: string): Promise<Replay | null>;
  /** Of the running replays that no replica works on, the one whose last turn is the longest ago. */
  claim(owner: string, now: Date, leased_until: Date): Promise<Replay | null>;
  /** False if another replica has taken over. */
  update(replay: Replay, progress: Progress): Promise<boolean>;
}

export const REPLAYS = 'replays';
export const replayIndexes: IndexDescription[] = [
  { key: { running: 1 }, unique: true, sparse: true },
  { key: { expires_at: 1 }, expireAfterSeconds: 0 },
];

export function createReplays(db: Db): Replays {
  const replays: Collection<Replay> = db.collection(REPLAYS);
  return {
    async create(replay) {
      try {
        await replays.insertOne(replay);
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    find: (partner_id, replay_id) => replays.findOne({ _id: replay_id, partner_id }),
    findRunning: (partner_id) => replays.findOne({ running: partner_id }),
    claim: (owner, now, leased_until) =>
      replays.findOneAndUpdate(
        { running: { $exists: true }, leased_until: { $lt: now } },
        { $set: { owner, leased_until } },
        { sort: { leased_until: 1 }, returnDocument: 'after' },
      ),
    async update({ _id, owner }, progress) {
      const is_over = progress.status !== undefined && progress.status !== 'running';
      const { matchedCount } = await replays.updateOne(
        { _id, owner },
        { $set: progress, ...(is_over && { $unset: { running: '' } }) },
      );
      return matchedCount > 0;
    },
  };
}
