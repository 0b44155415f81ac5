// The API keys of partners beside their partner keys: a record for each, found by the keyed hash of its
// secret.
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import type { KeyScope } from '@bmg/common/keys';
import { isDuplicateKey } from '@bmg/common/mongo';
import type { OldHashes } from '../../ground/partners';

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

export interface PartnerKeys {
  /** False if the partner has KEYS_MAX keys already. */
  insert(key: Omit<PartnerKey, 'place'>): Promise<boolean>;
  /** The oldest first. */
  list(partner_id: string): Promise<PartnerKey[]>;
  find(partner_id: string, key_id: string): Promise<PartnerKey | null>;
  /** The keys of any partner with one of these hashes, present or previous. */
  findByHashes(key_hashes: string[]): Promise<PartnerKey[]>;
  change(
    partner_id: string,
    key_id: string,
    change: PartnerKeyChange,
    at: Date,
  ): Promise<PartnerKey | null>;
  /** Replaces the secret; null if it is no longer the one with the hash `before`. */
  replaceSecret(key: PartnerKey, secret: Secret, at: Date): Promise<PartnerKey | null>;
  /** False if there is no such key. */
  remove(partner_id: string, key_id: string): Promise<boolean>;
  /** Replaces a hash, present or previous; false if no key has it. */
  renewHash(key_hash: string, newest: string): Promise<boolean>;
  /** Stores the use of keys whose last stored use is before `unless_since`. */
  noteUse(key_ids: string[], at: Date, unless_since: Date): Promise<void>;
  /** Keys whose hash is not of the pepper with this ID (empty: of a pepper without one). */
  ofOtherPeppers(pepper_id: string, at: Date): Promise<OldHashes>;
}

/** Of one partner. */
export const KEYS_MAX = 50;
const OLD_HASHES_NAMED_MAX = 10;

export const PARTNER_KEYS = 'partner_keys';
export const partnerKeyIndexes: IndexDescription[] = [
  { key: { key_hash: 1 }, unique: true },
  { key: { 'previous.key_hash': 1 }, sparse: true },
  { key: { partner_id: 1, place: 1 }, unique: true },
];

/** Longer than 70 lines: one short method for each query. */
export function createPartnerKeys(db: Db): PartnerKeys {
  const keys: Collection<PartnerKey> = db.collection(PARTNER_KEYS);
  const freePlace = async (partner_id: string): Promise<number | undefined> => {
    const taken = await keys
      .find({ partner_id }, { projection: { place: 1 } })
      .limit(KEYS_MAX)
      .toArray();
    const places = new Set(taken.map(({ place }) => place));
    return Array.from({ length: KEYS_MAX }, (_one, place) => place).find(
      (place) => !places.has(place),
    );
  };
  return {
    async insert(key) {
      // An attempt fails only if another key of the partner has just taken the place.
      for (let tries = 0; tries < KEYS_MAX; tries += 1) {
        const place = await freePlace(key.partner_id);
        if (place === undefined) return false;
        try {
          await keys.insertOne({ ...key, place });
          return true;
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
      }
      throw new Error('failed to create a key: its partner created others all the time');
    },
    list: (partner_id) => keys.find({ partner_id }).sort({ _id: 1 }).limit(KEYS_MAX).toArray(),
    find: (partner_id, _id) => keys.findOne({ _id, partner_id }),
    async findByHashes(key_hashes) {
      const of = { $in: key_hashes };
      const [present, previous] = await Promise.all([
        keys.find({ key_hash: of }).toArray(),
        keys.find({ 'previous.key_hash': of }).toArray(),
      ]);
      return [...new Map([...present, ...previous].map((key) => [key._id, key])).values()];
    },
    change: (partner_id, _id, change, updated_at) =>
      keys.findOneAndUpdate(
        { _id, partner_id },
        { $set: { ...change, updated_at } },
        { returnDocument: 'after' },
      ),
    replaceSecret: ({ _id, partner_id, key_hash }, secret, updated_at) =>
      keys.findOneAndUpdate(
        { _id, partner_id, key_hash },
        { $set: { ...secret, updated_at } },
        { returnDocument: 'after' },
      ),
    async remove(partner_id, _id) {
      return (await keys.deleteOne({ _id, partner_id })).deletedCount === 1;
    },
    async renewHash(key_hash, newest) {
      const present = await keys.updateOne({ key_hash }, { $set: { key_hash: newest } });
      if (present.matchedCount === 1) return true;
      const previous = await keys.updateOne(
        { 'previous.key_hash': key_hash },
        { $set: { 'previous.key_hash': newest } },
      );
      return previous.matchedCount === 1;
    },
    async noteUse(key_ids, at, unless_since) {
      await keys.updateMany(
        {
          _id: { $in: key_ids },
          $or: [{ last_used_at: null }, { last_used_at: { $lt: unless_since } }],
        },
        { $set: { last_used_at: at } },
      );
    },
    async ofOtherPeppers(pepper_id, at) {
      const other = pepper_id === '' ? /\./ : { $not: new RegExp(`^${pepper_id}\\.`) };
      const filter: Filter<PartnerKey> = {
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
