// Seals data that must not be stored in clear (upstream tokens, PINs, webhook secrets, logged
// events): AES-256-GCM with a new data key per record, which a key-encryption key of the key ring
// wraps. The record's identity is authenticated as additional data, so a record copied elsewhere
// does not open.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface Sealed {
  /** The key of the ring that wraps the data key. */
  key_id: string;
  wrapped_key: string;
  data: string;
}

/** A sealed record whose data is stored as bytes. */
export type SealedBytes = Omit<Sealed, 'data'> & { data: Buffer };

export type Vault = ReturnType<typeof createVault>;

const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const ALGORITHM = 'aes-256-gcm';
const SALT_BYTES = 32;
const PURPOSE = 'bmg data key';

const KEY_PATTERN = '[\\w-]{1,32}:(hkdf:)?[A-Za-z0-9+/]{43}=';
/**
 * A key ring in the settings: comma-separated keys of 32 bytes, newest first. An `id:hkdf:base64`
 * key wraps each data key with a key of its own, derived with a random salt, without a practical
 * limit of records. An `id:base64` key wraps all of them itself: with random nonces that is safe up
 * to 2^32 records.
 */
export const KEYRING_PATTERN = `^${KEY_PATTERN}(,${KEY_PATTERN})*$`;

/** A key of the ring. The ID of a record's key also says how its data key is wrapped. */
interface WrappingKey {
  secret: Buffer;
  is_derived: boolean;
}

/** `keyring` matches KEYRING_PATTERN. */
export function createVault(keyring: string) {
  const keys = new Map(
    keyring.split(',').map((entry): [string, WrappingKey] => {
      const parts = entry.split(':');
      const [id, encoded] = [parts[0], parts.at(-1)] as [string, string];
      return [id, { secret: Buffer.from(encoded, 'base64'), is_derived: parts.length === 3 }];
    }),
  );
  const [newest] = [...keys.keys()] as [string];
  const dataKeyOf = (identity: string, { key_id, wrapped_key }: Omit<Sealed, 'data'>): Buffer => {
    const key = keys.get(key_id);
    if (!key) throw new Error(`the key ring has no key ${key_id}`);
    return unwrapKey(key, identity, Buffer.from(wrapped_key, 'base64'));
  };
  const newest_key = keys.get(newest) as WrappingKey;
  let wrapped = 0;
  const wrap = (identity: string, dataKey: Buffer): string => {
    wrapped += 1;
    return wrapKey(newest_key, identity, dataKey).toString('base64');
  };
  const sealBytes = (identity: string, plain: Buffer): SealedBytes => {
    const dataKey = randomBytes(KEY_BYTES);
    return {
      key_id: newest,
      wrapped_key: wrap(identity, dataKey),
      data: encrypt(dataKey, identity, plain),
    };
  };
  const openBytes = (identity: string, sealed: SealedBytes): Buffer =>
    decrypt(dataKeyOf(identity, sealed), identity, sealed.data);
  return {
    /** ID of the newest key, which wraps new records. */
    key_id: newest,
    /** True if that key wraps data keys itself, which is safe for 2^32 of them only. */
    is_counted: !newest_key.is_derived,
    /** The data keys that it has wrapped in this process. */
    wrapped: () => wrapped,
    sealBytes,
    openBytes,
    /** `identity` names the record and the field, e.g. `client/p1/w1/n1/token`. */
    seal(identity: string, plain: string): Sealed {
      const sealed = sealBytes(identity, Buffer.from(plain, 'utf8'));
      return { ...sealed, data: sealed.data.toString('base64') };
    },
    /** Throws if the record was not sealed under this identity, or its key is not in the ring. */
    open: (identity: string, sealed: Sealed): string =>
      openBytes(identity, { ...sealed, data: Buffer.from(sealed.data, 'base64') }).toString('utf8'),
    /** Returns the record under the newest key: the data key is wrapped again, the data stays. */
    rewrap: (identity: string, sealed: Sealed): Sealed => ({
      key_id: newest,
      wrapped_key: wrap(identity, dataKeyOf(identity, sealed)),
      data: sealed.data,
    }),
  };
}

function wrapKey({ secret, is_derived }: WrappingKey, identity: string, dataKey: Buffer): Buffer {
  if (!is_derived) return encrypt(secret, identity, dataKey);
  const salt = randomBytes(SALT_BYTES);
  return Buffer.concat([salt, encrypt(derive(secret, salt), identity, dataKey)]);
}

function unwrapKey({ secret, is_derived }: WrappingKey, identity: string, wrapped: Buffer): Buffer {
  if (!is_derived) return decrypt(secret, identity, wrapped);
  const [salt, sealed] = [wrapped.subarray(0, SALT_BYTES), wrapped.subarray(SALT_BYTES)];
  return decrypt(derive(secret, salt), identity, sealed);
}

const derive = (secret: Buffer, salt: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, PURPOSE, KEY_BYTES));

function encrypt(key: Buffer, identity: string, plain: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv);
  cipher.setAAD(Buffer.from(identity, 'utf8'));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, identity: string, sealed: Buffer): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES));
  decipher.setAAD(Buffer.from(identity, 'utf8'));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}
