// The secrets that sign deliveries, and rotations: how long an old key or secret counts beside the
// new one.
import { randomBytes } from 'node:crypto';
import { invalidField } from '@bmg/common/errors';
import type { WebhookSecret } from './partners';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** The standard of webhook signatures bounds the secrets that partners choose. */
const CHOSEN_MIN_BYTES = 24;
const CHOSEN_MAX_BYTES = 64;
/** Secrets that sign the deliveries of one receiver at the same time. */
const SECRETS_MAX = 5;
const OVERLAP_MAX_HOURS = 24 * 30;
export const HOUR_MS = 3_600_000;
const ROTATE_TRIES_MAX = 5;

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

/** Throws INVALID_FIELD naming `overlap_hours`. */
export function checkOverlap(hours: number): void {
  if (Number.isInteger(hours) && hours >= 0 && hours <= OVERLAP_MAX_HOURS) return;
  throw invalidField('overlap_hours', `must be a whole number from 0 to ${OVERLAP_MAX_HOURS}`);
}

/**
 * The secrets after a rotation, the newest first. The earlier ones sign as well until the overlap
 * ends; none of them expires later than before.
 */
export function rotatedSecrets(
  newest: WebhookSecret,
  earlier: WebhookSecret[],
  overlap_hours: number,
  now: Date,
): WebhookSecret[] {
  const end = new Date(now.getTime() + overlap_hours * HOUR_MS);
  const overlapping = earlier
    .map((old) => ({
      ...old,
      expires_at: old.expires_at && old.expires_at < end ? old.expires_at : end,
    }))
    .filter(({ expires_at }) => expires_at > now);
  return [newest, ...overlapping].slice(0, SECRETS_MAX);
}

/** Repeats `attempt` while it returns undefined, because another rotation has just succeeded. */
export async function rotate<T>(what: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < ROTATE_TRIES_MAX; tries += 1) {
    const rotated = await attempt();
    if (rotated !== undefined) return rotated;
  }
  throw new Error(`failed to rotate ${what}: it kept changing`);
}
