// Errors of single entries in a batched look-up. An entry that is absent from the answer has one
// possible error, which the caller creates; the others cross gRPC as a Refusal.
import type { Refusal } from '@bmg/proto/onboarding';
import { ApiError, isErrorCode } from '../errors';

export const invalidKey = (): ApiError =>
  new ApiError('INVALID_PARTNER_KEY', 'x-partner-key is not a valid key');

/**
 * The same error for an unknown, a deleted and another partner's account: they must look alike.
 */
export const notRegistered = (): ApiError =>
  new ApiError('WABA_NOT_REGISTERED', 'x-waba-id names no business account registered with you');

export const noSuchPartner = (): ApiError => new ApiError('NOT_FOUND', 'no such partner');

export const toRefusal = ({ code, message, retryable, details }: ApiError): Refusal => ({
  code,
  message,
  retryable,
  details: details === null ? undefined : JSON.stringify(details),
});

/** Undefined for a code of a later release. */
export function fromRefusal({ code, message, retryable, details }: Refusal): ApiError | undefined {
  if (!isErrorCode(code)) return undefined;
  return new ApiError(code, message, {
    retryable,
    details: details === undefined ? undefined : (JSON.parse(details) as unknown),
  });
}
