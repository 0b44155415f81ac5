// A view of the clients for the expiry of their tokens.
import type { Db, Filter } from 'mongodb';
import { clientCollection, type Client } from './clients';

export interface ClientTokens {
  /**
   * Takes one row last checked before `before`, and marks it as checked at `at`; null where there
   * is none.
   */
  claim(before: Date, at: Date): Promise<Client | null>;
  /** How many active rows have a token that expires before `until`. */
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
