// Seals what may not be stored in clear (upstream tokens, PINs, webhook secrets, logged events):
// AES-256-GCM with a new data key per record, which a key-encryption key of the key ring wraps. The
// record's identity is authenticated as additional data, so a record copied elsewhere does not open.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface Sealed {
  /** The key of the ring that wraps the data key. */
  key_id: string;
  wrapped_key: string;
  data: string;
}

/** A sealed record whose data is stored as bytes. */
export type SealedBytes = Omit<Sealed, 'data'> & { data: Buffer };

export interface Vault {
  /** ID of the newest key, which wraps new records. */
  readonly key_id: string;
  /** `identity` names the record and the field, e.g. `client/p1/w1/n1/token`. */
  seal(identity: string, plain: string): Sealed;
  /** Throws where the record was not sealed under this identity, or its key is not in the ring. */
  open(identity: string, sealed: Sealed): string;
  sealBytes(identity: string, plain: Buffer): SealedBytes;
  openBytes(identity: string, sealed: SealedBytes): Buffer;
  /** The same record under the newest key: rewraps the data key and leaves the data unchanged. */
  rewrap(identity: string, sealed: Sealed): Sealed;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const ALGORITHM = 'aes-256-gcm';

/** A key ring in the settings: comma-separated `id:base64` keys of 32 bytes, newest first. */
export const KEYRING_PATTERN =
  '^[\\w-]{1,32}:[A-Za-z0-9+/]{43}=(,[\\w-]{1,32}:[A-Za-z0-9+/]{43}=)*$';

/** `keyring` matches KEYRING_PATTERN. */
export function createVault(keyring: string): Vault {
  const keys = new Map(
    keyring.split(',').map((entry): [string, Buffer] => {
      const [id, encoded] = entry.split(/:(.*)/s) as [string, string];
      return [id, Buffer.from(encoded, 'base64')];
    }),
  );
  const [newest] = [...keys.keys()] as [string];
  const dataKeyOf = (identity: string, { key_id, wrapped_key }: Omit<Sealed, 'data'>): Buffer => {
    const key = keys.get(key_id);
    if (!key) throw new Error(`the key ring has no key ${key_id}`);
    return decrypt(key, identity, Buffer.from(wrapped_key, 'base64'));
  };
  const wrap = (identity: string, dataKey: Buffer): string =>
    encrypt(keys.get(newest) as Buffer, identity, dataKey).toString('base64');
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
    key_id: newest,
    sealBytes,
    openBytes,
    seal(identity, plain) {
      const sealed = sealBytes(identity, Buffer.from(plain, 'utf8'));
      return { ...sealed, data: sealed.data.toString('base64') };
    },
    open: (identity, sealed) =>
      openBytes(identity, { ...sealed, data: Buffer.from(sealed.data, 'base64') }).toString('utf8'),
    rewrap: (identity, sealed) => ({
      key_id: newest,
      wrapped_key: wrap(identity, dataKeyOf(identity, sealed)),
      data: sealed.data,
    }),
  };
}

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
