// The rules of the directory: which number a call is for, which clients receive events, which
// secrets are valid. Pure functions.
import { notRegistered } from '@bmg/common/directory';
import { ApiError, invalidField } from '@bmg/common/errors';
import type { PartnerKey } from '../../accounts/keys';
import type { Client } from '../../ground/clients';

/** Entries of one batch. */
const ASKED_AT_ONCE_MAX = 1_000;

export function refuseTooMany(field: string, asked: unknown[]): void {
  if (asked.length <= ASKED_AT_ONCE_MAX) return;
  throw new ApiError('INVALID_PAYLOAD', `${field}: at most ${ASKED_AT_ONCE_MAX} at once`);
}

/**
 * The number of an account that a call is for (contract 2.3). `active` holds the active clients of
 * the account. Throws if the call names another number, or none although the account has several.
 */
export function chooseNumber(active: Client[], phone_number_id: string | undefined): Client {
  const [first, second] = active;
  if (!first) throw notRegistered();
  if (phone_number_id !== undefined) {
    const named = active.find((client) => client.phone_number_id === phone_number_id);
    if (!named) throw invalidField('x-phone-number-id', 'does not belong to the WABA');
    return named;
  }
  if (second) {
    throw new ApiError(
      'UPSTREAM_ERROR',
      'this business account has several numbers: send the header x-phone-number-id',
      { retryable: false, details: { field: 'x-phone-number-id' } },
    );
  }
  return first;
}

/**
 * Those of the active clients of a number or account that receive its events now. A client whose
 * access was withdrawn stays active for its partner, but its events stop until the partner onboards
 * it again. One with a dead token receives events until another partner onboards the number.
 */
export function receivingClients(rows: Client[], now: Date): Client[] {
  const granted = rows.filter(({ withdrawn_at }) => !withdrawn_at);
  const holders = granted.filter((row) => !hasDeadToken(row, now));
  return granted.filter((row) => {
    const isReplaced = (holder: Client): boolean =>
      holder.phone_number_id === row.phone_number_id && onboardedAt(holder) > onboardedAt(row);
    return !hasDeadToken(row, now) || !holders.some(isReplaced);
  });
}

const hasDeadToken = ({ token_expires_at }: Client, now: Date): boolean =>
  !!token_expires_at && token_expires_at <= now;

const onboardedAt = ({ known_since, registered_at }: Client): Date => known_since ?? registered_at;

interface ValidSecret {
  key_hash: string;
  /** Null: no end. */
  expires_at: Date | null;
}

/** The valid hashes of an API key: its own, and the one before a rotation. */
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
