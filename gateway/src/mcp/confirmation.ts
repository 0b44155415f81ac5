// Confirmations of sends: signed tokens, each for one partner and one request, valid for ten
// minutes. Every replica can verify them, and nothing is stored: a confirmation sends once because
// it carries an Idempotency-Key.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { invalidField } from '@bmg/common/errors';
import type { Peppers } from '@bmg/common/keys';
import { CONFIRMATION } from './arguments';

export interface Confirmed {
  partner_id: string;
  /** Differs if the requests differ. */
  fingerprint: string;
}

export const LIFE_MS = 10 * 60_000;
const NONCE_BYTES = 16;
/** Expiry in seconds, nonce, hash. */
const SHAPE = /^(\d{10})\.([A-Za-z0-9_-]{22})\.([\w.-]{43,80})$/;

const signed = ({ partner_id, fingerprint }: Confirmed, expires_s: string, nonce: string): string =>
  ['confirmation', partner_id, fingerprint, expires_s, nonce].join(':');

/** `text` is for the caller, who sends it back. */
export function createConfirmation(peppers: Peppers, of: Confirmed, now: number) {
  const expires_s = Math.floor((now + LIFE_MS) / 1_000);
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const hash = peppers.hash(signed(of, String(expires_s), nonce));
  return {
    text: `${expires_s}.${nonce}.${hash}`,
    expires_at: new Date(expires_s * 1_000),
  };
}

/**
 * Returns the Idempotency-Key of the send. Throws if the confirmation has expired or belongs to
 * another request.
 */
export function idempotencyKeyOf(
  peppers: Peppers,
  of: Confirmed,
  { text, now }: { text: unknown; now: number },
): string {
  const [, expires_s = '', nonce = '', hash = ''] = SHAPE.exec(String(text)) ?? [];
  const is_ours = peppers
    .hashes(signed(of, expires_s, nonce))
    .some((expected) => isSame(expected, hash));
  if (!is_ours) {
    throw refusal(
      'is not one for these arguments: repeat the arguments of the call that it is from',
    );
  }
  if (Number(expires_s) * 1_000 <= now) throw refusal('has expired');
  return `confirmation-${nonce}`;
}

const refusal = (problem: string) =>
  invalidField(
    CONFIRMATION,
    `${problem}. Nothing was sent. Call the tool without it for a new one, and confirm that.`,
  );

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
