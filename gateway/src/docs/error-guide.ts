// What each published code means and what its receiver should do. The compiler insists on a row for every
// code of the catalogue.
import type { ErrorCode } from '@bmg/common/errors';

export interface Advice {
  meaning: string;
  action: string;
}

const mend = 'Correct the request; repeating it unchanged does not help.';

export const ERROR_GUIDE: Record<ErrorCode, Advice> = {
  MISSING_FIELDS: {
    meaning: 'Required fields are absent or blank; details.fields lists all of them.',
    action: mend,
  },
  MISSING_WABA: {
    meaning: 'The endpoint acts on a client number and the header x-waba-id is missing.',
    action: 'Add the header.',
  },
  INVALID_PAYLOAD: {
    meaning: 'The body is not a JSON object, is too large, or its quote cannot be parsed.',
    action: 'Correct the body. Not to be mended inside a generic retry wrapper.',
  },
  INVALID_FIELD: {
    meaning:
      'A field has the wrong type, or is out of its range, length or values; details.field names it.',
    action: mend,
  },
  CODE_EXCHANGE_FAILED: {
    meaning: 'The sign-up code is expired, invalid or used.',
    action: 'Let the client go through the sign-up dialog again.',
  },
  DISCOVERY_FAILED: {
    meaning: 'The sign-up left no business account or no number.',
    action: 'Let the client finish the sign-up dialog with an account and a number.',
  },
  CONFIRMATION_REQUIRED: {
    meaning: 'The action cannot be undone and the body has no confirm: true.',
    action: 'Let a person decide, then send confirm: true. Never in a retry wrapper.',
  },
  AUTH_TEMPLATE_NEEDS_PHONE: {
    meaning: 'An authentication template was addressed to a BSUID.',
    action: 'Never repeat; collect a phone number.',
  },
  UNSUPPORTED_CONTENT_TYPE: {
    meaning: 'The body is not application/json.',
    action: 'Send JSON. Files are named by URL, not uploaded in the body.',
  },
  MEDIA_TOO_LARGE: {
    meaning: 'The file is larger than its kind allows; details has size_bytes and limit_bytes.',
    action: 'Use a smaller file.',
  },
  WABA_NOT_FOUND: {
    meaning: 'The business account does not exist upstream.',
    action: mend,
  },
  UNAUTHORIZED: {
    meaning:
      'No x-partner-key was sent, or onboarding was completed too long after its link expired.',
    action: 'Send the key; for onboarding create a new connect session.',
  },
  INVALID_PARTNER_KEY: {
    meaning: 'The partner key is unknown, malformed or revoked.',
    action: 'Check which key is configured. After a rotation use the new one.',
  },
  INVALID_KEY: {
    meaning: 'The hosted page was opened with a bad key in its address.',
    action: 'Create links with POST /connect/session.',
  },
  TRIAL_EXPIRED: { meaning: 'The trial is over.', action: 'Subscribe.' },
  PAYMENT_FAILED: {
    meaning: 'The card was refused, or an invoice is unpaid and sending has stopped.',
    action: 'Mend the payment; sending resumes by itself when the invoice is paid.',
  },
  PAYMENT_ACTION_REQUIRED: {
    meaning: 'The bank asks for authentication; payment_url leads there.',
    action: 'Open payment_url. The business account activates by itself once the invoice is paid.',
  },
  PAYMENT_REQUIRED: { meaning: 'A payment is due.', action: 'Pay, then repeat.' },
  CARD_REQUIRED: {
    meaning: 'A further slot is to be paid for and no card is stored.',
    action: 'Store a card, then repeat.',
  },
  SUBSCRIPTION_CANCELLED: {
    meaning: 'The subscription is cancelled.',
    action: 'Subscribe again.',
  },
  WABA_LIMIT_REACHED: {
    meaning: 'The plan’s number of business accounts is reached.',
    action: 'Delete a client that is not needed, or ask support for a higher limit.',
  },
  TOO_MANY_CONTACTS: {
    meaning: 'A broadcast has more than 10,000 contacts.',
    action: 'Split it.',
  },
  PARTNER_SUSPENDED: { meaning: 'The partner account is suspended.', action: 'Ask support.' },
  WABA_NOT_REGISTERED: {
    meaning: 'The business account is not registered with you, or is deleted.',
    action: 'Register the client first.',
  },
  NOT_FOUND: {
    meaning: 'There is no such path, method or object.',
    action: mend,
  },
  NO_ACTIVE_WABA: {
    meaning: 'The number is paused while the upstream re-links it.',
    action: 'Repeat after some minutes, or wait for the event waba.reconnected.',
  },
  MEDIA_NOT_FOUND: {
    meaning: 'The media id is unknown, has expired, or belongs to another number.',
    action: 'Media live about 30 days: ask the sender again, or upload again.',
  },
  CANNOT_CANCEL: {
    meaning: 'The broadcast has started or ended.',
    action: 'Nothing: it stays as it is.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    meaning: 'The first request with this Idempotency-Key is still running.',
    action: 'Repeat after Retry-After.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'This Idempotency-Key was used with another body.',
    action: 'Use a new key for a new request.',
  },
  RATE_LIMIT_EXCEEDED: {
    meaning: 'Too many requests in a second.',
    action: 'Repeat after Retry-After and slow down; see the RateLimit headers.',
  },
  RATE_LIMIT: { meaning: 'Too many requests.', action: 'Repeat after Retry-After and slow down.' },
  QUOTA_EXCEEDED: { meaning: 'The quota is used up.', action: 'Ask support for a higher one.' },
  SERVER_ERROR: {
    meaning: 'A part of the service did not answer in time.',
    action: 'Reads can be repeated. For writes look whether they were carried out first.',
  },
  INTERNAL_ERROR: {
    meaning: 'Something unexpected happened in the service.',
    action: 'Tell support the request_id.',
  },
  UPSTREAM_ERROR: {
    meaning:
      'The upstream refused or did not answer. upstream_code, upstream_subcode and details are its own.',
    action:
      'Branch on upstream_code. Repeat only where retryable is true. details.outcome "unknown" means that a message may have gone out.',
  },
  PLATFORM_NOT_CONFIGURED: {
    meaning: 'The embedded sign-up is not set up on this service.',
    action: 'Ask the operator of the service.',
  },
  NOT_CONFIGURED: {
    meaning: 'This part of the service is not set up.',
    action: 'Ask the operator of the service.',
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'A part of the service is away for the moment.',
    action: 'Repeat after Retry-After where retryable is true.',
  },
};

export interface UpstreamAdvice extends Advice {
  upstream_code: number;
}

/** Upstream codes that a partner should handle. */
export const UPSTREAM_GUIDE: readonly UpstreamAdvice[] = [
  {
    upstream_code: 131047,
    meaning: 'The user has not written in the last 24 hours: no free-form text is allowed.',
    action: 'Send a template, or wait until the user writes again.',
  },
  {
    upstream_code: 131062,
    meaning: 'Authentication template to a BSUID.',
    action: 'Never repeat; collect a phone number.',
  },
  {
    upstream_code: 131000,
    meaning: 'Something went wrong; on /groups: groups are not enabled upstream.',
    action: 'Do not repeat.',
  },
  {
    upstream_code: 131026,
    meaning: 'The message cannot be delivered: the phone is not on the platform.',
    action: 'Do not repeat.',
  },
  {
    upstream_code: 132001,
    meaning: 'The template does not exist in this language.',
    action: 'Correct the name or the language.',
  },
  {
    upstream_code: 130429,
    meaning: 'The upstream’s rate limit of the account.',
    action: 'Repeat after Retry-After and slow down.',
  },
  {
    upstream_code: 100,
    meaning: 'A parameter is invalid, such as a media key.',
    action: 'Correct the request.',
  },
  {
    upstream_code: 10,
    meaning: 'The permission for a requested field is missing.',
    action: 'Let the client connect again and grant it.',
  },
];
