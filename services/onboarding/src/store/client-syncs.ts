// A view of the clients for the data sync: those whose sync the upstream has not accepted yet.
import type { Db } from 'mongodb';
import { clientCollection, type Client } from './clients';

export interface ClientSyncs {
  /** Takes one due row until `lease_until` and counts the try; null where none is due. */
  claim(now: Date, lease_until: Date): Promise<Client | null>;
  /** How many rows still wait for their sync and have a window that closes before `until`. */
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
