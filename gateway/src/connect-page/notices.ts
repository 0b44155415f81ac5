// The notice shown instead of the onboarding page when a link cannot be used.
import type { Notice } from './html';

export const INCOMPLETE_LINK: Notice = { kind: 'incomplete', reason: 'LINK_INCOMPLETE' };
export const EXPIRED_LINK: Notice = { kind: 'expired', reason: 'LINK_EXPIRED' };
export const USED_LINK: Notice = { kind: 'used', reason: 'LINK_USED' };

const KIND_OF_ERROR: Partial<Record<string, Notice['kind']>> = {
  INVALID_KEY: 'unknown_key',
  PLATFORM_NOT_CONFIGURED: 'not_configured',
  PARTNER_SUSPENDED: 'blocked',
  SUBSCRIPTION_CANCELLED: 'blocked',
  TRIAL_EXPIRED: 'blocked',
};

/** The error's own message is for partners: a person gets plain words, and the code for support. */
export const noticeOf = (code: string): Notice => ({
  code,
  reason: code,
  kind: KIND_OF_ERROR[code] ?? 'fault',
});
