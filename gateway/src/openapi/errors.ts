// The error codes of each endpoint, and the error responses of the OpenAPI document.
import { CATALOG, type ErrorCode } from '@bmg/common/errors';
import { ERROR_CODES, ERROR_GUIDE } from '../error-guide';
import type { Endpoint } from '../endpoints/endpoint';
import * as is from '../endpoints/parts/answers';
import type { Json } from './schemas';

const ALWAYS: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'INVALID_PARTNER_KEY',
  'TRIAL_EXPIRED',
  'SUBSCRIPTION_CANCELLED',
  'PARTNER_SUSPENDED',
  'SCOPE_MISSING',
  'ADDRESS_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'SERVER_ERROR',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];

/** Every code the endpoint can return, in the order of the catalogue. */
export function codesOf({ scope, ...row }: Endpoint): ErrorCode[] {
  const codes = new Set<ErrorCode>([...ALWAYS, ...(row.codes ?? [])]);
  const add = (applies: unknown, ...more: ErrorCode[]): void => {
    if (applies) for (const code of more) codes.add(code);
  };
  add(row.query, 'INVALID_FIELD');
  add(row.body, 'INVALID_PAYLOAD', 'UNSUPPORTED_CONTENT_TYPE', 'INVALID_FIELD');
  add(row.body?.required?.length || row.body?.requiredOneOf, 'MISSING_FIELDS');
  add(row.idempotent, 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED');
  add(row.idempotent, 'QUOTA_EXCEEDED', 'INVALID_FIELD');
  // A key that is limited to accounts gets these for a filter.
  add(scope === 'number' || scope === 'filter', 'MISSING_WABA', 'WABA_NOT_REGISTERED');
  add(scope === 'number', 'INVALID_FIELD', 'UPSTREAM_ERROR');
  add(!row.person_only && (scope === 'partner' || scope === 'session'), 'KEY_RESTRICTED');
  add(row.person_only, 'PERSON_REQUIRED');
  add(row.fresh_log_in, 'FRESH_LOG_IN_REQUIRED');
  return ERROR_CODES.filter((code) => codes.has(code));
}

/** The published codes of one HTTP status. */
const codesWith = (http: number): ErrorCode[] =>
  ERROR_CODES.filter((code) => CATALOG[code].http === http);

export const STATUSES: readonly number[] = [
  ...new Set(Object.values(CATALOG).map(({ http }) => http)),
].sort((one, other) => one - other);

/** Statuses whose errors can carry a Retry-After. */
const WITH_RETRY_AFTER: readonly number[] = [404, 409, 429, 502, 503];

export const errorResponseName = (http: number): string => `Error${http}`;

/** One response per status, shared by all endpoints. */
export const errorResponses = (headers: Json, ignored: Json): Json =>
  Object.fromEntries(
    STATUSES.map((http) => [
      errorResponseName(http),
      {
        description: `Error codes: ${codesWith(http).join(', ')}.`,
        headers: {
          ...headers,
          ...(http !== 401 && ignored),
          ...(WITH_RETRY_AFTER.includes(http) && {
            'Retry-After': { $ref: '#/components/headers/RetryAfter' },
          }),
        },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            example: errorExample(codesWith(http)[0] as ErrorCode),
          },
        },
        'x-codes': codesWith(http),
      },
    ]),
  );

const errorExample = (code: ErrorCode): Json => ({
  success: false,
  error: {
    code,
    message: ERROR_GUIDE[code].meaning,
    ...(code === 'UPSTREAM_ERROR' && { upstream_code: 131047 }),
    upstream_subcode: null,
    details: null,
    retryable: CATALOG[code].retryable,
    doc_url: `https://gateway.example/docs#${code}`,
    request_id: '0b8f6f3e-6f0f-4b53-9a55-2f1f7c0c9d1e',
  },
});

export const errorSchema: Json = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: [
        'code',
        'message',
        'upstream_subcode',
        'details',
        'retryable',
        'doc_url',
        'request_id',
      ],
      properties: {
        code: {
          type: 'string',
          description: 'One of `x-codes`. Codes can be added.',
          'x-codes': ERROR_CODES.map((code) => ({
            code,
            http: CATALOG[code].http,
            retryable: CATALOG[code].retryable,
            ...ERROR_GUIDE[code],
          })),
        },
        message: {
          type: 'string',
          description: 'Description of the error for people. Do not match on it.',
        },
        upstream_code: {
          type: 'integer',
          description: 'Error code of the upstream. Branch on it.',
        },
        upstream_subcode: { type: ['integer', 'null'] },
        details: is.any(
          'Further details, or null: `field` or `fields` at fault, the upstream’s own, or `outcome`.',
        ),
        retryable: {
          type: 'boolean',
          description: 'Whether the unchanged request can be retried safely and may then succeed.',
        },
        payment_url: {
          type: 'string',
          description: 'URL of the payment page. Only for `PAYMENT_ACTION_REQUIRED`.',
        },
        doc_url: {
          type: 'string',
          format: 'uri',
          description: 'What the code means and what to do, in this documentation.',
        },
        request_id: {
          type: 'string',
          description: 'ID of the request, as in the header `X-Request-Id`.',
        },
      },
    },
  },
};
