// The passkeys of people: the public key of each, found by the ID that its authenticator
// gave it; and the challenges that were answered: each is accepted once. Nothing is stored for one that
// was only issued.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';

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
  /** Of signatures, as the authenticator counts them; stays 0 for those that do not. */
  counter: number;
  transports: string[];
  /** Whether the person's other devices have it as well. */
  synced: boolean;
  created_at: Date;
  last_used_at: Date | null;
}

export interface Passkeys {
  /** False if it is another person's. */
  store(passkey: PasskeyRecord): Promise<boolean>;
  find(passkey_id: string): Promise<PasskeyRecord | null>;
  /** Those of a person with these IDs, the oldest first. */
  of(person: PersonRef, passkey_ids: string[]): Promise<PasskeyRecord[]>;
  /** Stores a use; false if the counter is no longer the one that was read. */
  noteUse(passkey: PasskeyRecord, counter: number, at: Date): Promise<boolean>;
  rename(person: PersonRef, passkey_id: string, name: string): Promise<PasskeyRecord | null>;
  remove(person: PersonRef, passkey_id: string): Promise<void>;
  /** All of the person's. */
  removeOf(person: PersonRef): Promise<void>;
}

export const PASSKEYS = 'passkeys';
export const passkeyIndexes: IndexDescription[] = [{ key: { partner_id: 1, person_id: 1 } }];

export function createPasskeys(db: Db): Passkeys {
  const passkeys: Collection<PasskeyRecord> = db.collection(PASSKEYS);
  return {
    async store({ _id, ...passkey }) {
      const { partner_id, person_id } = passkey;
      try {
        // The record of a registration that was not finished is replaced.
        await passkeys.replaceOne({ _id, partner_id, person_id }, passkey, { upsert: true });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    find: (_id) => passkeys.findOne({ _id }),
    of: ({ partner_id, person_id }, passkey_ids) =>
      passkeys
        .find({ partner_id, person_id, _id: { $in: passkey_ids } })
        .sort({ created_at: 1 })
        .toArray(),
    async noteUse({ _id, counter: before }, counter, last_used_at) {
      const changed = { counter, last_used_at };
      return (
        (await passkeys.updateOne({ _id, counter: before }, { $set: changed })).matchedCount === 1
      );
    },
    rename: ({ partner_id, person_id }, _id, name) =>
      passkeys.findOneAndUpdate(
        { _id, partner_id, person_id },
        { $set: { name } },
        { returnDocument: 'after' },
      ),
    async remove({ partner_id, person_id }, _id) {
      await passkeys.deleteOne({ _id, partner_id, person_id });
    },
    async removeOf({ partner_id, person_id }) {
      await passkeys.deleteMany({ partner_id, person_id });
    },
  };
}

interface UsedChallenge {
  _id: string;
  /** When the challenge has expired, and the TTL index removes the record. */
  purge_at: Date;
}

export interface UsedChallenges {
  /** False if it was used before. */
  use(challenge: string, expires_at: Date): Promise<boolean>;
}

export const USED_CHALLENGES = 'used_challenges';
export const usedChallengeIndexes: IndexDescription[] = [
  { key: { purge_at: 1 }, expireAfterSeconds: 0 },
];

export function createUsedChallenges(db: Db): UsedChallenges {
  const used: Collection<UsedChallenge> = db.collection(USED_CHALLENGES);
  return {
    async use(_id, purge_at) {
      try {
        await used.insertOne({ _id, purge_at });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
  };
}
