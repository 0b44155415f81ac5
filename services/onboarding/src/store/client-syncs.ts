// Which clients the data sync is still to be asked for: what the clock of the sync reads and claims.
import type { Db } from 'mongodb';
import { clientCollection, type Client } from './clients';

export interface ClientSyncs {
  /** One row that is due, taken until `lease_until` and counted as tried; null when there is none. */
  claim(now: Date, lease_until: Date): Promise<Client | null>;
  /** Rows that wait for their sync and whose time is over before `until`. */
  countUntil(until: Date): Promise<number>;
}

export function createClientSyncs(db: Db): ClientSyncs {
  const clients = clientCollection(db);
  return {
    async claim(now, lease_until) {
      const before = await clients.findOneAndUpdate(
        { sync_retry_at: { $lte: now }, status: 'active' },
        { $set: { sync_retry_at: lease_until }, $inc: { sync_tries: 1 } },
        { returnDocument: 'before' },
      );
      return (
        before && {
          ...before,
          sync_retry_at: lease_until,
          sync_tries: (before.sync_tries ?? 0) + 1,
        }
      );
    },
    countUntil: (until) =>
      clients.countDocuments({
        sync_retry_at: { $gt: new Date(0) },
        sync_until: { $lte: until },
        status: 'active',
      }),
  };
}
