import { ApiError } from '@bmg/common/errors';

/** Entries of one batch. */
const ASKED_AT_ONCE_MAX = 1_000;

export function refuseTooMany(field: string, asked: unknown[]): void {
  if (asked.length <= ASKED_AT_ONCE_MAX) return;
  throw new ApiError('INVALID_PAYLOAD', `${field}: at most ${ASKED_AT_ONCE_MAX} at once`);
}
