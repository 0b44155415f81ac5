// The collection `replays`: a partner's requests to deliver logged events again, with their
// progress. One replica at a time works on a replay, under a lease.
import type { Collection, Db } from 'mongodb';
import { storeOnce, type Indexes } from '@bmg/common/mongo';

export type ReplayStatus = 'running' | 'completed' | 'failed';

export interface Replay {
  _id: string;
  partner_id: string;
  /** Absent for the partner's webhook URL. */
  endpoint_id?: string;
  /** The partner while the replay runs: an index allows one at a time. Absent afterwards. */
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

type State = 'status' | 'failed_event_id' | 'error' | 'ended_at' | 'leased_until';
export type Progress = Partial<Pick<Replay, 'position' | 'delivered' | 'ahead' | State>>;

export const REPLAYS = 'replays';
export const replayIndexes: Indexes = {
  [REPLAYS]: [
    { key: { running: 1 }, unique: true, sparse: true },
    { key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};

export type Replays = ReturnType<typeof createReplays>;

export function createReplays(db: Db) {
  const replays: Collection<Replay> = db.collection(REPLAYS);
  return {
    /** False if another replay of the partner runs. */
    create: (replay: Replay): Promise<boolean> => storeOnce(() => replays.insertOne(replay)),
    find: (partner_id: string, replay_id: string) =>
      replays.findOne({ _id: replay_id, partner_id }),
    findRunning: (partner_id: string) => replays.findOne({ running: partner_id }),
    /** Claims the free replay that has waited longest. */
    claim: (owner: string, now: Date, leased_until: Date) =>
      replays.findOneAndUpdate(
        { running: { $exists: true }, leased_until: { $lt: now } },
        { $set: { owner, leased_until } },
        { sort: { leased_until: 1 }, returnDocument: 'after' },
      ),
    /** False if another replica has taken over. */
    async update({ _id, owner }: Replay, progress: Progress): Promise<boolean> {
      const is_over = progress.status !== undefined && progress.status !== 'running';
      const { matchedCount } = await replays.updateOne(
        { _id, owner },
        { $set: progress, ...(is_over && { $unset: { running: '' } }) },
      );
      return matchedCount > 0;
    },
  };
}
