// Which secrets of an API key are valid: the present one, and the one before a rotation.
import type { PartnerKey } from '../../accounts/keys';

export interface ValidSecret {
  key_hash: string;
  /** Null: no end. */
  expires_at: Date | null;
}

/** The hashes under which a key is accepted at a time, each with its end. */
export function validSecrets(
  { key_hash, previous, expires_at }: Pick<PartnerKey, 'key_hash' | 'previous' | 'expires_at'>,
  at: Date,
): ValidSecret[] {
  const secrets: ValidSecret[] = [
    { key_hash, expires_at },
    ...(previous
      ? [{ key_hash: previous.key_hash, expires_at: earlier(previous.expires_at, expires_at) }]
      : []),
  ];
  return secrets.filter((one) => one.expires_at === null || one.expires_at > at);
}

const earlier = (one: Date, other: Date | null): Date => (other && other < one ? other : one);
