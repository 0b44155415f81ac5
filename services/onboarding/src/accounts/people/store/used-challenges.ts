// The challenges of passkeys that were answered: each is accepted once. Nothing is stored for one that was
// only issued.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';

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
