// The error guide: the meaning of every published error code, and what a caller should do. The
// compiler requires an entry for each code of the catalogue.
import { CATALOG, type ErrorCode } from '@bmg/common/errors';
import upstreamGuide from './upstream-guide.json';

export interface Advice {
  meaning: string;
  action: string;
}

/** In the order of the catalogue. */
export const ERROR_CODES = Object.keys(CATALOG) as ErrorCode[];

const CORRECT_IT = 'Correct the request. Retrying it unchanged does not help.';

export const ERROR_GUIDE: Record<ErrorCode, Advice> = {
  MISSING_FIELDS: {
    meaning: 'Required fields are missing or blank. details.fields lists all of them.',
    action: CORRECT_IT,
  },
  MISSING_WABA: {
    meaning: 'The endpoint acts on a client number, and the header x-waba-id is missing.',
    action: 'Send the header x-waba-id.',
  },
  INVALID_PAYLOAD: {
    meaning:
      'The body is not a JSON object, is too large or has a key __proto__ or constructor, or the quoted message cannot be parsed.',
    action: 'Correct the body. Do not fix it inside a generic retry wrapper.',
  },
  INVALID_FIELD: {
    meaning:
      'A field has the wrong type, or its value is out of range, too long or not allowed. details.field names it.',
    action: CORRECT_IT,
  },
  CODE_EXCHANGE_FAILED: {
    meaning: 'The sign-up code is invalid, expired or already used.',
    action: 'Have the client go through the sign-up dialog again.',
  },
  DISCOVERY_FAILED: {
    meaning: 'The sign-up returned no business account or no number.',
    action: 'Have the client complete the sign-up dialog with a business account and a number.',
  },
  CONFIRMATION_REQUIRED: {
    meaning: 'The action cannot be undone, and the body has no confirm: true.',
    action:
      'Let a person decide, then send confirm: true. Do not send it from a generic retry wrapper.',
  },
  AUTH_TEMPLATE_NEEDS_PHONE: {
    meaning: 'An authentication template was sent to a BSUID.',
    action: 'Do not retry. Collect a phone number.',
  },
  UNSUPPORTED_CONTENT_TYPE: {
    meaning: 'The Content-Type of the body is not application/json.',
    action: 'Send JSON. To upload a file, send its URL.',
  },
  MEDIA_TOO_LARGE: {
    meaning:
      'The file is larger than its media type allows. See details.size_bytes and details.limit_bytes.',
    action: 'Use a smaller file.',
  },
  WABA_NOT_FOUND: {
    meaning:
      'The business account does not exist. Of the contract; this release answers WABA_NOT_REGISTERED.',
    action: CORRECT_IT,
  },
  UNAUTHORIZED: {
    meaning:
      'The header x-partner-key is missing, or the onboarding was completed too long after its link expired.',
    action: 'Send the key. For an expired onboarding, create a new connect session.',
  },
  INVALID_PARTNER_KEY: {
    meaning: 'The partner key is unknown, malformed or revoked.',
    action: 'Check the configured key. After a key rotation, use the new key.',
  },
  INVALID_KEY: {
    meaning: 'The hosted onboarding page was opened with an invalid key in its URL.',
    action: 'Create the link with POST /connect/session.',
  },
  TRIAL_EXPIRED: {
    meaning: 'The trial has ended.',
    action: 'Subscribe.',
  },
  PAYMENT_FAILED: {
    meaning: 'The card was declined, or an invoice is unpaid and sending has stopped.',
    action: 'Fix the payment. Sending resumes automatically when the invoice is paid.',
  },
  PAYMENT_ACTION_REQUIRED: {
    meaning: 'The bank requires authentication of the payment, at payment_url.',
    action:
      'Open payment_url. The business account is activated automatically when the invoice is paid.',
  },
  PAYMENT_REQUIRED: {
    meaning:
      'A payment is due. Of the contract; this release answers PAYMENT_FAILED or PAYMENT_ACTION_REQUIRED.',
    action: 'Pay, then retry.',
  },
  CARD_REQUIRED: {
    meaning: 'A further billing slot must be paid for, and no card is on file.',
    action: 'Add a card, then retry.',
  },
  SUBSCRIPTION_CANCELLED: {
    meaning: 'The subscription is cancelled.',
    action: 'Subscribe again.',
  },
  WABA_LIMIT_REACHED: {
    meaning: 'The maximum number of business accounts of the plan is reached.',
    action: 'Delete a client you no longer need, or ask support for a higher limit.',
  },
  LIMIT_REACHED: {
    meaning: 'There are as many of these as you may have; the message says how many.',
    action: 'Remove one that you no longer need.',
  },
  TOO_MANY_CONTACTS: {
    meaning: 'The broadcast has more than 10,000 contacts.',
    action: 'Split the broadcast.',
  },
  PARTNER_SUSPENDED: {
    meaning: 'The partner account is suspended.',
    action: 'Contact support.',
  },
  SCOPE_MISSING: {
    meaning:
      'The API key, or the role of the person, lacks the scope that the request needs. details.scope names it. The partner key has all scopes.',
    action: 'Use a key with this scope, or add it to the key: PATCH /keys/{key_id}.',
  },
  KEY_RESTRICTED: {
    meaning:
      'The API key is limited to some business accounts, and the endpoint covers all of them; or an API key, or a person, made a request that only the partner key or an unlimited key may make.',
    action: 'Use a key that is not limited to accounts, or the partner key.',
  },
  PERSON_REQUIRED: {
    meaning:
      'The request is for a person who is signed in to the console, and was made with a key; or the person does not have the role that it needs. details.roles names the roles.',
    action: 'Let a person with one of these roles do it in the console.',
  },
  FRESH_LOG_IN_REQUIRED: {
    meaning:
      'The console session may do this only within five minutes of its log-in. No key gets this answer.',
    action: 'Log in again: with a passkey, the issuer or the partner key, as before.',
  },
  SECOND_PERSON_REQUIRED: {
    meaning: 'The person who created a broadcast may not approve it.',
    action: 'Let another person with the role owner or developer approve it.',
  },
  ADDRESS_NOT_ALLOWED: {
    meaning:
      'The API key is limited to addresses, and the request came from another one. details.address is the address that the service saw.',
    action: 'Send the request from an allowed address, or add this one to the key.',
  },
  WABA_NOT_REGISTERED: {
    meaning:
      'The business account is not registered under your partner account, or it was deleted.',
    action: 'Register the client first.',
  },
  NOT_FOUND: {
    meaning:
      'The path, method or object does not exist. A path that exists for other methods is answered with this code too, not with 405: the published codes have none for it.',
    action: CORRECT_IT,
  },
  NO_ACTIVE_WABA: {
    meaning: 'The number is paused because it was offboarded and is not yet reconnected.',
    action: 'Retry after a few minutes, or wait for the event waba.reconnected.',
  },
  MEDIA_NOT_FOUND: {
    meaning: 'The media ID is unknown, has expired or belongs to another number.',
    action:
      'Media expire after about 30 days. Upload the file again, or ask the sender to send it again.',
  },
  CANNOT_CANCEL: {
    meaning: 'The broadcast has started or ended.',
    action: 'Pause it first if it is processing. The broadcast is unchanged.',
  },
  CANNOT_PAUSE: {
    meaning: 'The broadcast has not started, or it has ended.',
    action: 'Cancel it if it has not started. The broadcast is unchanged.',
  },
  CANNOT_RESUME: {
    meaning: 'The broadcast is not paused: it has not started, or it has ended.',
    action: 'None. The broadcast is unchanged.',
  },
  CANNOT_APPROVE: {
    meaning: 'The broadcast needs no approval, or it has ended.',
    action: 'None. The broadcast is unchanged.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    meaning: 'The first request with this Idempotency-Key is still running.',
    action: 'Retry after Retry-After.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'This Idempotency-Key was used with a different body.',
    action: 'Use a new key for a new request.',
  },
  RATE_LIMIT_EXCEEDED: {
    meaning: 'You sent more requests per second than your rate limit allows.',
    action: 'Retry after Retry-After and slow down. See the RateLimit headers.',
  },
  RATE_LIMIT: {
    meaning: 'Too many requests.',
    action: 'Retry after Retry-After and slow down.',
  },
  QUOTA_EXCEEDED: {
    meaning: 'The quota is used up; the message says which one.',
    action: 'Retry after Retry-After, or do what the message says.',
  },
  SERVER_ERROR: {
    meaning: 'A part of the service did not answer in time.',
    action: 'Retry reads. Before retrying a write, check whether it was carried out.',
  },
  INTERNAL_ERROR: {
    meaning: 'An unexpected error occurred in the service.',
    action: 'Contact support with the request_id.',
  },
  UPSTREAM_ERROR: {
    meaning:
      'The upstream rejected the request or did not answer. upstream_code, upstream_subcode and details are its own.',
    action:
      'Branch on upstream_code. Retry only if retryable is true. If details.outcome is "unknown", the message may have been sent.',
  },
  PLATFORM_NOT_CONFIGURED: {
    meaning: 'The embedded sign-up is not configured on this service.',
    action: 'Contact the operator of the service.',
  },
  NOT_CONFIGURED: {
    meaning: 'This part of the service is not configured.',
    action: 'Contact the operator of the service.',
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'A part of the service is temporarily unavailable.',
    action: 'Retry after Retry-After if retryable is true.',
  },
};

export interface UpstreamAdvice extends Advice {
  upstream_code: number;
  /** What has to change before a message gets through: `request`, `recipient` or `upstream`. */
  cause: string;
}

/**
 * Contract 14.1: upstream codes to handle, and the usual ones of failed messages. JSON, because
 * the build of the console reads it too.
 */
export const UPSTREAM_GUIDE: readonly UpstreamAdvice[] = upstreamGuide;

const BY_UPSTREAM_CODE = new Map(UPSTREAM_GUIDE.map((one) => [one.upstream_code, one]));

/** Undefined for a code that the guide does not explain. */
export const upstreamAdvice = (upstream_code: number): UpstreamAdvice | undefined =>
  BY_UPSTREAM_CODE.get(upstream_code);

/** The anchor in the documentation that explains an error. */
export const errorAnchor = (code: ErrorCode, upstream_code: number | undefined): string =>
  upstream_code !== undefined && BY_UPSTREAM_CODE.has(upstream_code)
    ? `upstream-${upstream_code}`
    : code;
