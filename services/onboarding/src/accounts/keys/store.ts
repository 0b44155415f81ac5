// The API keys of partners beside their partner keys: a record for each, found by the keyed hash of
// its secret.
import type { Collection, Db, Filter } from 'mongodb';
import type { KeyScope } from '@bmg/common/keys';
import type { Indexes } from '@bmg/common/mongo';
import { changeOne, insertInPlace } from '../../ground/insert';

export interface PartnerKey {
  _id: string;
  partner_id: string;
  /** From 0, unique among the partner's keys: the unique index bounds how many there are. */
  place: number;
  name: string;
  key_hash: string;
  key_hint: string;
  /** The secret before the last rotation, while it works beside the new one. */
  previous: { key_hash: string; expires_at: Date } | null;
  scopes: KeyScope[];
  /** Null: all accounts of the partner. Never empty. */
  waba_ids: string[] | null;
  /** Null: any. Never empty. */
  addresses: string[] | null;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export type PartnerKeyChange = Partial<
  Pick<PartnerKey, 'name' | 'scopes' | 'waba_ids' | 'addresses' | 'expires_at'>
>;
export type Secret = Pick<PartnerKey, 'key_hash' | 'key_hint' | 'previous'>;

/** Bounds the keys of one partner. */
export const KEYS_MAX = 50;
const OLD_HASHES_NAMED_MAX = 10;

export const PARTNER_KEYS = 'partner_keys';
export const partnerKeyIndexes: Indexes = {
  [PARTNER_KEYS]: [
    { key: { key_hash: 1 }, unique: true },
    { key: { 'previous.key_hash': 1 }, sparse: true },
    { key: { partner_id: 1, place: 1 }, unique: true },
  ],
};

export function createPartnerKeys(db: Db) {
  const keys: Collection<PartnerKey> = db.collection(PARTNER_KEYS);
  return {
    /** False if the partner has KEYS_MAX keys already. */
    insert: (key: Omit<PartnerKey, 'place'>) =>
      insertInPlace(keys, key, { max: KEYS_MAX, what: 'a key' }),
    /** The oldest first. */
    list: (partner_id: string) =>
      keys.find({ partner_id }).sort({ _id: 1 }).limit(KEYS_MAX).toArray(),
    find: (partner_id: string, _id: string) => keys.findOne({ _id, partner_id }),
    /** The keys of any partner with one of these hashes, present or previous. */
    async findByHashes(key_hashes: string[]) {
      const of = { $in: key_hashes };
      const [present, previous] = await Promise.all([
        keys.find({ key_hash: of }).toArray(),
        keys.find({ 'previous.key_hash': of }).toArray(),
      ]);
      return [...new Map([...present, ...previous].map((key) => [key._id, key])).values()];
    },
    change: (partner_id: string, _id: string, change: PartnerKeyChange, updated_at: Date) =>
      changeOne(keys, { _id, partner_id }, { $set: { ...change, updated_at } }),
    /** Replaces the secret; null if it is no longer the one with the hash `before`. */
    replaceSecret: ({ _id, partner_id, key_hash }: PartnerKey, secret: Secret, updated_at: Date) =>
      changeOne(keys, { _id, partner_id, key_hash }, { $set: { ...secret, updated_at } }),
    /** False if there is no such key. */
    async remove(partner_id: string, _id: string) {
      return (await keys.deleteOne({ _id, partner_id })).deletedCount === 1;
    },
    /** Replaces a hash, present or previous; false if no key has it. */
    async renewHash(key_hash: string, newest: string) {
      const present = await keys.updateOne({ key_hash }, { $set: { key_hash: newest } });
      if (present.matchedCount === 1) return true;
      const previous = await keys.updateOne(
        { 'previous.key_hash': key_hash },
        { $set: { 'previous.key_hash': newest } },
      );
      return previous.matchedCount === 1;
    },
    /** Stores the use of keys whose last stored use is before `unless_since`. */
    noteUse: (key_ids: string[], at: Date, unless_since: Date) =>
      keys.updateMany(
        {
          _id: { $in: key_ids },
          $or: [{ last_used_at: null }, { last_used_at: { $lt: unless_since } }],
        },
        { $set: { last_used_at: at } },
      ),
    /** Keys whose hash is not of the pepper with this ID (empty: of a pepper without one). */
    async ofOtherPeppers(pepper_id: string, at: Date) {
      const filter = ofOtherPeppers(pepper_id, at);
      const [count, first] = await Promise.all([
        keys.countDocuments(filter),
        keys
          .find(filter, { projection: { partner_id: 1 } })
          .sort({ _id: 1 })
          .limit(OLD_HASHES_NAMED_MAX)
          .toArray(),
      ]);
      return { count, partner_ids: [...new Set(first.map(({ partner_id }) => partner_id))] };
    },
  };
}

function ofOtherPeppers(pepper_id: string, at: Date): Filter<PartnerKey> {
  const other = pepper_id === '' ? /\./ : { $not: new RegExp(`^${pepper_id}\\.`) };
  return {
    $and: [
      { $or: [{ expires_at: null }, { expires_at: { $gt: at } }] },
      {
        $or: [
          { key_hash: other },
          { 'previous.key_hash': other, 'previous.expires_at': { $gt: at } },
        ],
      },
    ],
  };
}
