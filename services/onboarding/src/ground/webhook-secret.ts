// The secrets that sign deliveries.
import { randomBytes } from 'node:crypto';
import { invalidField } from '@bmg/common/errors';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** The standard of webhook signatures bounds the secrets that partners choose. */
const CHOSEN_MIN_BYTES = 24;
const CHOSEN_MAX_BYTES = 64;

/** `whsec_` and the base64 of 32 random bytes. */
export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** The chosen secret, or a new one. Throws INVALID_FIELD for a text that is no secret. */
export function chosenOrNewSecret(chosen: string | undefined): string {
  if (!chosen) return newWebhookSecret();
  const encoded = chosen.startsWith(PREFIX) ? chosen.slice(PREFIX.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  const is_long_enough = bytes.length >= CHOSEN_MIN_BYTES && bytes.length <= CHOSEN_MAX_BYTES;
  if (is_long_enough && bytes.toString('base64') === encoded) return chosen;
  throw invalidField('secret', 'must be whsec_ and the base64 of 24 to 64 random bytes');
}
