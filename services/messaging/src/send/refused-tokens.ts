// Tokens that the upstream has refused: under the number, the hash of the token. A new token has
// another.
import { createHash } from 'node:crypto';
import type { Collection, Db, IndexDescription } from 'mongodb';
import type { Target } from '@bmg/proto/common';

type NumberScope = Omit<Target, 'directory_version'>;

interface RefusedToken {
  _id: string;
  hash: string;
  refused_at: Date;
}

const KEPT_DAYS = 60;
const DAY_S = 86_400;

export const REFUSED_TOKENS = 'refused_tokens';
export const refusedTokenIndexes: IndexDescription[] = [
  { key: { refused_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
];

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
const idOf = ({ partner_id, waba_id, phone_number_id }: NumberScope): string =>
  `${partner_id}/${waba_id}/${phone_number_id}`;

export function createRefusedTokens(db: Db) {
  const tokens: Collection<RefusedToken> = db.collection(REFUSED_TOKENS);
  return {
    async add(number: NumberScope, token: string, at: Date): Promise<void> {
      await tokens.updateOne(
        { _id: idOf(number) },
        { $set: { hash: hashOf(token), refused_at: at } },
        { upsert: true },
      );
    },
    has: async (number: NumberScope, token: string): Promise<boolean> =>
      (await tokens.findOne({ _id: idOf(number), hash: hashOf(token) })) !== null,
  };
}
