// How long an old key or secret counts beside the new one. Pure.
import { invalidField } from '@bmg/common/errors';
import type { WebhookSecret } from './partners';

const OVERLAP_MAX_HOURS = 24 * 30;
export const HOUR_MS = 3_600_000;

/** Throws INVALID_FIELD naming `overlap_hours`. */
export function checkOverlap(hours: number): void {
  if (Number.isInteger(hours) && hours >= 0 && hours <= OVERLAP_MAX_HOURS) return;
  throw invalidField('overlap_hours', `must be a whole number from 0 to ${OVERLAP_MAX_HOURS}`);
}

/** The earlier secrets that still sign beside a new one. None of them expires later than before. */
export function overlapping(
  secrets: WebhookSecret[],
  now: Date,
  overlap_hours: number,
): WebhookSecret[] {
  const end = new Date(now.getTime() + overlap_hours * HOUR_MS);
  return secrets
    .map((old) => ({
      ...old,
      expires_at: old.expires_at && old.expires_at < end ? old.expires_at : end,
    }))
    .filter(({ expires_at }) => expires_at > now);
}
