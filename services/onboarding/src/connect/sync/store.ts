// A view of the clients for the data sync: those whose sync the upstream has not accepted yet.
import type { Db } from 'mongodb';
import { clientCollection, clientId, type Client, type ClientChange } from '../../ground/clients';
import { changeOne } from '../../ground/insert';

/** The report of one webhook about the history of a number. */
export interface HistoryReport {
  phone_number_id: string;
  phase: number | undefined;
  progress: number | undefined;
  error: { code: number; message: string } | undefined;
  received_at: Date;
  /** The end of the window of an onboarding that began when the webhook arrived. */
  latest_window: Date;
}

export function createClientSyncs(db: Db) {
  const clients = clientCollection(db);
  return {
    /**
     * Stores how far the history has arrived, for every partner with the number. Chunks come in any
     * order, so phase and progress never go back; what arrived before the onboarding changes
     * nothing.
     */
    advance: ({
      phone_number_id,
      phase,
      progress,
      error,
      received_at,
      latest_window,
    }: HistoryReport) =>
      clients.updateMany(
        { phone_number_id, status: 'active', sync_until: { $lte: latest_window } },
        {
          $max: {
            history_at: received_at,
            ...(phase !== undefined && { history_phase: phase }),
            ...(progress !== undefined && { history_progress: progress }),
          },
          ...(error && { $set: { history_error: error } }),
        },
      ),
    /** Takes one due row until `lease_until` and counts the try; null when none is due. */
    claim: (now: Date, lease_until: Date) =>
      changeOne(
        clients,
        { sync_retry_at: { $lte: now }, status: 'active' },
        { $set: { sync_retry_at: lease_until }, $inc: { sync_tries: 1 } },
      ),
    /**
     * Changes the row if its sync window is still the one of `client`; null when a new onboarding
     * has opened another, which the outcome of an earlier sync must not change.
     */
    change: (client: Client, change: ClientChange) =>
      changeOne(
        clients,
        { _id: clientId(client), sync_until: client.sync_until ?? null },
        { $set: change },
      ),
    /** How many rows still wait for their sync and have a window that closes before `until`. */
    countUntil: (until: Date) =>
      clients.countDocuments({
        sync_retry_at: { $gt: new Date(0) },
        sync_until: { $lte: until },
        status: 'active',
      }),
  };
}
