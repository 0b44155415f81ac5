// A view of the clients for the expiry of their tokens.
import type { Db, Filter } from 'mongodb';
import {
  clientCollection,
  clientId,
  type Client,
  type ClientChange,
  type NumberScope,
} from '../../../ground/clients';

export interface ClientTokens {
  /**
   * Takes one row last checked before `before`, and marks it as checked at `at`; null when
   * there is none.
   */
  claim(before: Date, at: Date): Promise<Client | null>;
  /**
   * Changes the row if its token is still the one of `client`. False if it was replaced: facts
   * about the old token do not apply to the new one.
   */
  change(client: Client, change: ClientChange): Promise<boolean>;
  /** Makes the number's tokens of other partners due for a check. */
  recheckOthers(scope: NumberScope): Promise<void>;
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
    async change(client, change) {
      // Rotating the key ring leaves the data as it is.
      const { matchedCount } = await clients.updateOne(
        { _id: clientId(client), 'token.data': client.token.data },
        { $set: change },
      );
      return matchedCount === 1;
    },
    async recheckOthers({ partner_id, phone_number_id }) {
      await clients.updateMany(
        { phone_number_id, partner_id: { $ne: partner_id }, status: 'active' },
        { $unset: { token_checked_at: true } },
      );
    },
    countUntil: (until) =>
      clients.countDocuments({
        status: 'active',
        token_expires_at: { $gt: new Date(0), $lte: until },
      }),
  };
}
