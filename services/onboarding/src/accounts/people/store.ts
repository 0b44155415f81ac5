// The passkeys of people: the public key of each, found by the ID that its authenticator gave it;
// and the challenges that were answered: each is accepted once. Nothing is stored for one that was
// only issued.
import type { Collection, Db } from 'mongodb';
import { storeOnce, type Indexes } from '@bmg/common/mongo';
import { changeOne } from '../../ground/insert';

export interface PersonRef {
  partner_id: string;
  person_id: string;
}

export interface PasskeyRecord extends PersonRef {
  /** The credential's ID, base64url. */
  _id: string;
  name: string;
  /** COSE key, base64url. */
  public_key: string;
  /** Counts signatures, as the authenticator does; stays 0 for one that does not. */
  counter: number;
  transports: string[];
  /** True if the person's other devices have it as well. */
  synced: boolean;
  created_at: Date;
  last_used_at: Date | null;
}

export const PASSKEYS = 'passkeys';

export function createPasskeys(db: Db) {
  const passkeys: Collection<PasskeyRecord> = db.collection(PASSKEYS);
  return {
    /** False if it is another person's. */
    store({ _id, ...passkey }: PasskeyRecord) {
      const { partner_id, person_id } = passkey;
      // The record of a registration that was not finished is replaced.
      const own = { _id, partner_id, person_id };
      return storeOnce(() => passkeys.replaceOne(own, passkey, { upsert: true }));
    },
    find: (_id: string) => passkeys.findOne({ _id }),
    /** Those of a person with these IDs, the oldest first. */
    of: ({ partner_id, person_id }: PersonRef, passkey_ids: string[]) =>
      passkeys
        .find({ partner_id, person_id, _id: { $in: passkey_ids } }, { sort: { created_at: 1 } })
        .toArray(),
    /** Stores a use; false if the counter is no longer the one that was read. */
    async noteUse({ _id, counter: before }: PasskeyRecord, counter: number, last_used_at: Date) {
      const change = { $set: { counter, last_used_at } };
      return (await passkeys.updateOne({ _id, counter: before }, change)).matchedCount === 1;
    },
    rename: ({ partner_id, person_id }: PersonRef, _id: string, name: string) =>
      changeOne(passkeys, { _id, partner_id, person_id }, { $set: { name } }),
    remove: ({ partner_id, person_id }: PersonRef, _id: string) =>
      passkeys.deleteOne({ _id, partner_id, person_id }),
    /** All of the person's. */
    removeOf: ({ partner_id, person_id }: PersonRef) =>
      passkeys.deleteMany({ partner_id, person_id }),
  };
}

interface UsedChallenge {
  _id: string;
  /** When the challenge has expired, and the TTL index removes the record. */
  purge_at: Date;
}

const USED_CHALLENGES = 'used_challenges';
export const passkeyIndexes: Indexes = {
  [PASSKEYS]: [{ key: { partner_id: 1, person_id: 1 } }],
  [USED_CHALLENGES]: [{ key: { purge_at: 1 }, expireAfterSeconds: 0 }],
};

export function createUsedChallenges(db: Db) {
  const used: Collection<UsedChallenge> = db.collection(USED_CHALLENGES);
  return {
    /** False if it was used before. */
    use: (_id: string, purge_at: Date) => storeOnce(() => used.insertOne({ _id, purge_at })),
  };
}
