// Two views of the clients. One is for facts that events change: the rows of every partner with the
// account or number. Events may be repeated or late, so a change is made only if nothing newer is
// known. The other is for the expiry of tokens.
import type { Db, Filter } from 'mongodb';
import {
  clientCollection,
  clientId,
  type Client,
  type ClientChange,
  type FactKind,
  type NumberScope,
} from '../../ground/clients';
import { changeOne } from '../../ground/insert';

/** One number, or all numbers of an account. */
export type Affected = { phone_number_id: string } | { waba_id: string };

export interface FactEvent {
  affected: Affected;
  kind: FactKind;
  /** The upstream's timestamp. */
  at: Date;
  /** When the event reached us. */
  received_at: Date;
}

export type ClientFacts = ReturnType<typeof createClientFacts>;

/** Bounds the read: an account is never shared by more partners than this. */
const ROWS_MAX = 1_000;

export function createClientFacts(db: Db) {
  const clients = clientCollection(db);
  return {
    /** Returns all affected rows, so that a repeated event bumps their versions again. */
    async apply({ affected, kind, at, received_at }: FactEvent, change: ClientChange) {
      const active: Filter<Client> = { ...affected, status: 'active' };
      const rows = await clients.find(active).limit(ROWS_MAX).toArray();
      const outdated = rows.filter(
        ({ known_since, known_at }) =>
          !((known_since && known_since > received_at) || (known_at?.[kind] ?? at) > at),
      );
      if (outdated.length > 0) {
        await clients.bulkWrite(
          outdated.map(({ _id, known_since }) => ({
            updateOne: {
              // Only the row as it was read: a registration in between wins.
              filter: { _id, status: 'active', known_since: known_since ?? { $exists: false } },
              update: { $set: { ...change, [`known_at.${kind}`]: at } },
            },
          })),
          { ordered: false },
        );
      }
      return rows;
    },
    /** Stores the latest activity of each number. */
    touch: (activity: ReadonlyMap<string, Date>) =>
      clients.bulkWrite(
        [...activity].map(([phone_number_id, at]) => ({
          updateMany: {
            filter: { phone_number_id, status: 'active' },
            update: { $max: { last_activity_at: at } },
          },
        })),
        { ordered: false },
      ),
    /** Sets the business ID of rows that have none. */
    fillBusinessId: (waba_id: string, business_id: string) =>
      clients.updateMany({ waba_id, business_id: null }, { $set: { business_id } }),
    /** Makes a refresh of the number's facts due at `at`. */
    // One row stands for all of the number: the upstream answers every partner the same.
    requestRefresh: (phone_number_id: string, at: Date) =>
      clients.updateOne(
        { phone_number_id, status: 'active' },
        { $set: { refresh_due_at: at, refresh_tries: 0 } },
      ),
    /** Takes one due row until `lease_until`; null if none is due. */
    claimRefresh: (now: Date, lease_until: Date) =>
      changeOne(
        clients,
        { status: 'active', refresh_due_at: { $lte: now } },
        { $set: { refresh_due_at: lease_until }, $inc: { refresh_tries: 1 } },
      ),
    /** Stores the facts; the next refresh of the number is due at `next_at`. */
    finishRefresh: (phone_number_id: string, change: ClientChange, next_at: Date) =>
      clients.updateMany(
        { phone_number_id, status: 'active' },
        { $set: { ...change, refresh_due_at: next_at, refresh_tries: 0 } },
      ),
    /** Makes the refresh due again at `at`. */
    postponeRefresh: ({ _id }: Client, at: Date) =>
      clients.updateOne({ _id }, { $set: { refresh_due_at: at } }),
    /** Makes a refresh due at `at` for active rows that have no time for it. */
    scheduleRefreshes: (at: Date) =>
      clients.updateMany(
        { status: 'active', refresh_due_at: null },
        { $set: { refresh_due_at: at, refresh_tries: 0 } },
      ),
  };
}

export type ClientTokens = ReturnType<typeof createClientTokens>;

export function createClientTokens(db: Db) {
  const clients = clientCollection(db);
  return {
    /** Takes a row last checked before `before`, and marks it as checked at `at`. */
    claim: (before: Date, at: Date) =>
      clients.findOneAndUpdate(
        {
          status: 'active',
          $or: [{ token_checked_at: { $exists: false } }, { token_checked_at: { $lte: before } }],
        } as Filter<Client>,
        { $set: { token_checked_at: at } },
        { returnDocument: 'before' },
      ),
    /**
     * Changes the row if its token is still the one of `client`. False if it was replaced: facts
     * about the old token do not apply to the new one.
     */
    async change(client: Client, change: ClientChange) {
      // Rotating the key ring leaves the data as it is.
      const { matchedCount } = await clients.updateOne(
        { _id: clientId(client), 'token.data': client.token.data },
        { $set: change },
      );
      return matchedCount === 1;
    },
    /** Makes the number's tokens of other partners due for a check. */
    recheckOthers: ({ partner_id, phone_number_id }: NumberScope) =>
      clients.updateMany(
        { phone_number_id, partner_id: { $ne: partner_id }, status: 'active' },
        { $unset: { token_checked_at: true } },
      ),
    /** How many active rows have a token that expires before `until`. */
    countUntil: (until: Date) =>
      clients.countDocuments({
        status: 'active',
        token_expires_at: { $gt: new Date(0), $lte: until },
      }),
  };
}
