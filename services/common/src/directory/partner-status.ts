// Whether a partner may do business, and the error for every other status. The gateway applies the
// rule to partner keys, onboarding to connect links and console sessions.
import { ApiError, type ErrorCode } from '../errors';

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
 * Throws the error of every status but `active`. A status that this release does not know counts as
 * suspended.
 */
export function refuseUnlessActive(status: string): void {
  if (status === 'active') return;
  throw inactivePartner(status);
}

function inactivePartner(status: string): ApiError {
  switch (status) {
    case 'subscription_cancelled':
      return new ApiError('SUBSCRIPTION_CANCELLED', 'the subscription is cancelled');
    case 'trial_expired':
      return new ApiError('TRIAL_EXPIRED', 'the trial has expired');
    default:
      return new ApiError('PARTNER_SUSPENDED', 'this partner account is suspended');
  }
}
