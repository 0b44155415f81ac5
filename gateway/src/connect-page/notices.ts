// What a person reads instead of the onboarding page, when a link cannot be used.
import type { Notice } from './html';

type Text = Pick<Notice, 'title' | 'text'>;

export const INCOMPLETE_LINK: Notice = {
  reason: 'LINK_INCOMPLETE',
  title: 'This link is not complete',
  text: 'Open the link exactly as you got it, or ask your provider for a new one.',
};
export const EXPIRED_LINK: Notice = {
  reason: 'LINK_EXPIRED',
  title: 'This link is not valid any more',
  text: 'Links to connect a number work for 30 minutes. Please ask your provider for a new one.',
};
export const USED_LINK: Notice = {
  reason: 'LINK_USED',
  title: 'This link has been used',
  text: 'A number was connected with it. If something is missing, please ask your provider for a new link.',
};
const UNKNOWN_KEY: Text = {
  title: 'This link is not valid',
  text: 'The key in this link is not known. Please ask your provider for a new link.',
};
const BLOCKED_PARTNER: Text = {
  title: 'This link cannot be used',
  text: 'Please ask your provider.',
};
const FAULT: Text = {
  title: 'Something went wrong',
  text: 'Please load the page again in a moment. If it stays like this, tell your provider.',
};

const NOTICE_OF_ERROR: Partial<Record<string, Text>> = {
  INVALID_KEY: UNKNOWN_KEY,
  PLATFORM_NOT_CONFIGURED: {
    title: 'Connecting numbers is not set up yet',
    text: 'The service that your provider uses is not ready for this. Please tell your provider.',
  },
  PARTNER_SUSPENDED: BLOCKED_PARTNER,
  SUBSCRIPTION_CANCELLED: BLOCKED_PARTNER,
  TRIAL_EXPIRED: BLOCKED_PARTNER,
};

/** The error's own message is for partners: a person gets plain words, and the code for support. */
export const noticeOf = (code: string): Notice => ({
  code,
  reason: code,
  ...(NOTICE_OF_ERROR[code] ?? FAULT),
});
