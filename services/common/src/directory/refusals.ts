// Why the directory refuses a partner or an account, and how the error of an entry of a batch
// crosses gRPC.
import type { Refusal } from '@bmg/proto/onboarding';
import { ApiError, isErrorCode, type ErrorCode } from '../errors';

export const invalidKey = (): ApiError =>
  new ApiError('INVALID_PARTNER_KEY', 'x-partner-key is not a valid key');

/** Unknown, deleted and other partners' accounts get the same error: it reveals none of them. */
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

export const PARTNER_STATUSES = [
  'active',
  'suspended',
  'subscription_cancelled',
  'trial_expired',
] as const;
export type PartnerStatus = (typeof PARTNER_STATUSES)[number];

/** The codes that `refuseUnlessActive` throws. */
export const INACTIVE_PARTNER_CODES = [
  'PARTNER_SUSPENDED',
  'SUBSCRIPTION_CANCELLED',
  'TRIAL_EXPIRED',
] as const satisfies readonly ErrorCode[];

/**
 * Throws for every status but `active`. One that this release does not know is suspended. The
 * gateway applies it to partner keys, onboarding to connect links and console sessions.
 */
export function refuseUnlessActive(status: string): void {
  switch (status) {
    case 'active':
      return;
    case 'subscription_cancelled':
      throw new ApiError('SUBSCRIPTION_CANCELLED', 'the subscription is cancelled');
    case 'trial_expired':
      throw new ApiError('TRIAL_EXPIRED', 'the trial has expired');
    default:
      throw new ApiError('PARTNER_SUSPENDED', 'this partner account is suspended');
  }
}
