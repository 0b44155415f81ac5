// The platform's error object and the HTTP status and title of each code. Handlers throw these
// errors; only the server turns them into answers.
import { randomBytes } from 'node:crypto';
import type { JsonObject } from './types';

export interface ErrorOptions {
  status?: number;
  subcode?: number;
  type?: string;
  data?: unknown;
  user_title?: string;
  user_msg?: string;
  transient?: boolean;
  /** Keys beside `error` in the answer: a blocking request returns its successes there too. */
  beside?: JsonObject;
}

export class UpstreamError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly status: number,
    readonly options: ErrorOptions = {},
  ) {
    super(message);
  }
}

/** Code → HTTP status and title. The statuses follow the platform's published error page. */
const CODES: Readonly<Record<number, readonly [status: number, title: string]>> = {
  0: [401, 'AuthException'],
  1: [400, 'API Unknown'],
  2: [503, 'API Service'],
  3: [403, 'API Method'],
  4: [400, 'Application request limit reached'],
  10: [403, 'Application does not have permission for this action'],
  17: [400, 'User request limit reached'],
  33: [400, 'Parameter value is not valid'],
  100: [400, 'Invalid parameter'],
  101: [400, 'Invalid application id'],
  104: [401, 'An access token is required to request this resource.'],
  190: [401, 'Invalid OAuth access token - Cannot parse access token'],
  200: [403, 'Permissions error'],
  2200: [400, 'Callback verification failed'],
  2500: [400, 'Unknown path components'],
  2635: [400, 'This version of the API is not available'],
  80007: [400, 'Rate limit issues'],
  130429: [400, 'Rate limit hit'],
  131000: [500, 'Something went wrong'],
  131005: [403, 'Access denied'],
  131008: [400, 'Required parameter is missing'],
  131009: [400, 'Parameter value is not valid'],
  131021: [400, 'Recipient cannot be sender'],
  131026: [400, 'Message undeliverable'],
  131031: [403, 'Account has been locked'],
  131047: [400, 'Re-engagement message'],
  131048: [400, 'Spam rate limit hit'],
  131049: [400, 'Not delivered to maintain healthy ecosystem engagement'],
  131053: [400, 'Media upload error'],
  131056: [400, '(Business account, consumer account) pair rate limit hit'],
  131059: [400, 'Paging cursor is not valid'],
  131062: [400, 'Business-scoped user id recipients are not possible for this message'],
  131202: [400, 'Duplicate participant in the request'],
  131204: [400, 'Too many participants'],
  131211: [400, 'Group creation limit reached'],
  131212: [400, 'Participant is not in the group'],
  131215: [400, 'Number is not eligible for groups'],
  132000: [400, 'Number of parameters does not match the expected number of params'],
  132001: [404, 'Template name does not exist in the translation'],
  132005: [400, 'Translated text too long'],
  132012: [400, 'Parameter format does not match format in the created template'],
  132015: [400, 'Template is paused'],
  132016: [400, 'Template is disabled'],
  133005: [400, 'Two step verification PIN mismatch'],
  133006: [400, 'Phone number re-verification needed'],
  133008: [400, 'Too many two step verification PIN guesses'],
  133010: [400, 'Phone number not registered'],
  133016: [400, 'Account register deregister rate limit exceeded'],
  138000: [401, 'Calling not enabled'],
  138003: [400, 'A call with this user is already running'],
  138006: [401, 'No approved call permission from the recipient'],
  139100: [400, 'Failed to block/unblock users'],
  139101: [400, 'Blocklist limit reached'],
  2388019: [400, 'Message template limit exceeded'],
  2593107: [400, 'Synchronization request limit exceeded'],
  2593108: [400, 'Synchronization request made outside of allowed time window'],
  2593109: [400, 'History sharing was declined by the business'],
};

/** Codes from here on belong to messaging: their details are in `error_data.details`. */
const MESSAGING_CODES_FROM = 130000;

export function titleOf(code: number): string {
  return CODES[code]?.[1] ?? 'Something went wrong';
}

export function statusOf(code: number): number {
  return CODES[code]?.[0] ?? 400;
}

/**
 * Creates an error of a known code. `details` goes to `error_data` for messaging codes, else to the
 * message.
 */
export function upstreamError(
  code: number,
  details?: string,
  options: ErrorOptions = {},
): UpstreamError {
  const messaging = code >= MESSAGING_CODES_FROM && code < 2_000_000;
  const message = messaging || !details ? titleOf(code) : details;
  const data = messaging && details ? { messaging_product: 'whatsapp', details } : undefined;
  return new UpstreamError(code, message, options.status ?? statusOf(code), {
    ...(data ? { data } : {}),
    ...options,
  });
}

/** Code 100 of the management endpoints: the reason is in the message. */
export function invalid(details: string, options: ErrorOptions = {}): UpstreamError {
  return upstreamError(100, details, options);
}

/** Code 100 of the messages endpoint: the reason is in `error_data.details`. */
export function invalidParameter(details: string): UpstreamError {
  return new UpstreamError(100, titleOf(100), statusOf(100), {
    data: { messaging_product: 'whatsapp', details },
  });
}

/** An object that does not exist and one that the token may not see have this answer. */
export function unknownObject(method: string, id: string): UpstreamError {
  return new UpstreamError(
    100,
    `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation`,
    400,
    { subcode: 33, type: 'GraphMethodException' },
  );
}

/** Codes whose message the platform does not start with `(#code)`. */
const BARE_MESSAGES = new Set([104, 190, 2500]);

export function errorBody(error: UpstreamError): JsonObject {
  const { options } = error;
  const bare = BARE_MESSAGES.has(error.code) || options.type === 'GraphMethodException';
  return {
    ...options.beside,
    error: {
      message: bare ? error.message : `(#${error.code}) ${error.message}`,
      type: options.type ?? 'OAuthException',
      code: error.code,
      ...(options.subcode !== undefined ? { error_subcode: options.subcode } : {}),
      ...(options.data !== undefined ? { error_data: options.data } : {}),
      ...(options.transient ? { is_transient: true } : {}),
      ...(options.user_title ? { error_user_title: options.user_title } : {}),
      ...(options.user_msg ? { error_user_msg: options.user_msg } : {}),
      fbtrace_id: `A${randomBytes(8).toString('base64url')}`,
    },
  };
}

/** The second format: errors inside webhooks and blocking results. */
export function webhookError(code: number, details?: string, title = titleOf(code)): JsonObject {
  return {
    code,
    title,
    message: title,
    error_data: { details: details ?? title },
    href: '/docs/support/error-codes/',
  };
}
