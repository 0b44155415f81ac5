// Until when clients' tokens hold: what the clock of the tokens reads and claims.
import type { Db, Filter } from 'mongodb';
import { clientCollection, type Client } from './clients';

export interface ClientTokens {
  /** One row that was last looked at before `before`, taken by saying `at`; null when there is none. */
  claim(before: Date, at: Date): Promise<Client | null>;
  /** Active rows whose token ends before `until`. */
  countUntil(until: Date): Promise<number>;
}

export function createClientTokens(db: Db): ClientTokens {
  const clients = clientCollection(db);
  return {
    claim: (before, at) =>
      clients.findOneAndUpdate(
        {
          status: 'active',
          $or: [{ token_checked_at: { $exists: false } }, { token_checked_at: { $lte: before } }],
        } as Filter<Client>,
        { $set: { token_checked_at: at } },
        { returnDocument: 'before' },
      ),
    countUntil: (until) =>
      clients.countDocuments({
        status: 'active',
        token_expires_at: { $gt: new Date(0), $lte: until },
      }),
  };
}
