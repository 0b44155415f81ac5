// The secrets that sign deliveries.
import { randomBytes } from 'node:crypto';
import { invalidField } from '@bmg/common/errors';

const SECRET_BYTES = 32;
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** `whsec_` and the base64 of 32 random bytes. */
export const newWebhookSecret = (): string =>
  `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** The secret of a dry run, or a new one. Throws INVALID_FIELD for a text that is no such secret. */
export function chosenOrNewSecret(chosen: string | undefined): string {
  if (!chosen) return newWebhookSecret();
  if (SECRET.test(chosen)) return chosen;
  throw invalidField('secret', 'is not ours');
}
