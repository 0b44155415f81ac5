// Headers, parameters and security schemes of the OpenAPI document, which all endpoints share.
import { API_VERSION, NOTICES } from '@bmg/common/notices';
import type { Json } from './schemas';

const ref = (kind: string, name: string): { $ref: string } => ({
  $ref: `#/components/${kind}/${name}`,
});

const textHeader = (description: string, example: string): Json => ({
  description,
  schema: { type: 'string', examples: [example] },
});

const numberHeader = (description: string, example: number): Json => ({
  description,
  schema: { type: 'integer', minimum: 0, examples: [example] },
});

export const headers: Json = {
  ApiVersion: textHeader('Version of this API.', API_VERSION),
  Release: textHeader('Release of the software that answers.', '2.10.0'),
  Changelog: textHeader('URL of the changelog.', 'https://gateway.example.com/changelog'),
  Notice: textHeader(
    'IDs of the active notices, comma-separated. Absent if there are none. An ID never changes.',
    NOTICES.map(({ id }) => id).join(','),
  ),
  NoticeLevel: {
    description: 'Highest severity of the active notices.',
    schema: { type: 'string', enum: ['info', 'action_required', 'breaking'] },
  },
  RequestId: textHeader(
    'ID of the request. Your own `X-Request-Id` if you sent a valid one.',
    'order-4711-1',
  ),
  TraceParent: textHeader(
    'W3C trace context of the request.',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  ),
  RateLimit: numberHeader('Requests allowed per second.', 200),
  RateLimitRemaining: numberHeader('Requests left at the moment.', 199),
  RateLimitReset: numberHeader('Seconds until the full limit is available again.', 1),
  RetryAfter: {
    description: 'Seconds to wait before retrying. Not present on every error.',
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
  Ignored: textHeader(
    'Keys of the query and body that were ignored, comma-separated: at most 20. Absent if there are none.',
    'dry_run, contacts[].note',
  ),
  IdempotencyReplayed: {
    description:
      'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
};

/** On every response of an endpoint but a 401. */
export const ignoredHeader: Json = { 'X-Service-Ignored': ref('headers', 'Ignored') };

/** On every response. */
export const everyHeader: Json = {
  'X-Service-Api-Version': ref('headers', 'ApiVersion'),
  'X-Service-Release': ref('headers', 'Release'),
  'X-Service-Changelog': ref('headers', 'Changelog'),
  'X-Service-Notice': ref('headers', 'Notice'),
  'X-Service-Notice-Level': ref('headers', 'NoticeLevel'),
  'X-Request-Id': ref('headers', 'RequestId'),
  traceparent: ref('headers', 'TraceParent'),
};

export const rateHeaders: Json = {
  'RateLimit-Limit': ref('headers', 'RateLimit'),
  'RateLimit-Remaining': ref('headers', 'RateLimitRemaining'),
  'RateLimit-Reset': ref('headers', 'RateLimitReset'),
};

export const replayHeader: Json = {
  'Idempotency-Replayed': ref('headers', 'IdempotencyReplayed'),
};

const header = (name: string, required: boolean, description: string, schema: Json): Json => ({
  name,
  in: 'header',
  required,
  description,
  schema,
});

const ID = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' };

export const parameters: Json = {
  WabaId: header('x-waba-id', true, 'ID of the business account.', {
    ...ID,
    examples: ['900000000000001'],
  }),
  WabaFilter: header('x-waba-id', false, 'Limits the request to one business account.', {
    ...ID,
    examples: ['900000000000001'],
  }),
  PhoneNumberId: header(
    'x-phone-number-id',
    false,
    'ID of the number. Required if the business account has two or more registered numbers.',
    { ...ID, examples: ['800000000000001'] },
  ),
  IdempotencyKey: header(
    'Idempotency-Key',
    false,
    'Makes retries safe: for 24 hours, a request with the same key and body gets the first response again.',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  ),
};

export const securitySchemes: Json = {
  PartnerKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-partner-key',
    description:
      'Your partner key, which gives full access, or an API key, which needs the `x-key-scope` of the operation. No key calls an operation with `x-person-only`. Keep it on your server, never in a browser or a URL.',
  },
  ConnectToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-connect-token',
    description:
      'Token of a connect session. It authorizes the completion of that onboarding only.',
  },
};

export const healthSchema: Json = {
  type: 'object',
  required: ['success', 'status', 'version', 'dependencies'],
  properties: {
    success: { type: 'boolean' },
    status: { type: 'string', enum: ['ok', 'degraded', 'down'] },
    version: { type: 'string', examples: [API_VERSION] },
    dependencies: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['status'],
        properties: { status: { type: 'string', enum: ['ok', 'down'] } },
      },
    },
  },
};
