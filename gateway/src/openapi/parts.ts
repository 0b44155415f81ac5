// The parts of the OpenAPI document that do not depend on the endpoint table.
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
  ApiVersion: textHeader('version of this interface', API_VERSION),
  Changelog: textHeader('address of the changelog', 'https://gateway.example.com/changelog'),
  Notice: textHeader(
    'ids of the active notices, comma-separated; absent when there are none. An id never changes',
    NOTICES.map(({ id }) => id).join(','),
  ),
  NoticeLevel: {
    description: 'highest severity of the active notices',
    schema: { type: 'string', enum: ['info', 'action_required', 'breaking'] },
  },
  RequestId: textHeader('your own, if you sent a sane one', 'order-4711-1'),
  TraceParent: textHeader(
    'W3C trace context',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  ),
  RateLimit: numberHeader('requests a second that you may send', 200),
  RateLimitRemaining: numberHeader('requests that are left at the moment', 199),
  RateLimitReset: numberHeader('seconds until the bucket is full again', 1),
  RetryAfter: {
    description: 'whole seconds after which to try again; not on every error',
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
  IdempotencyReplayed: {
    description: 'on the answer of an earlier request with the same Idempotency-Key',
    schema: { type: 'string', const: 'true' },
  },
};

/** On every answer. */
export const everyHeader: Json = {
  'X-Service-Api-Version': ref('headers', 'ApiVersion'),
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
  WabaId: header('x-waba-id', true, 'the business account', {
    ...ID,
    examples: ['900000000000001'],
  }),
  WabaFilter: header('x-waba-id', false, 'narrows down to one business account', {
    ...ID,
    examples: ['900000000000001'],
  }),
  PhoneNumberId: header(
    'x-phone-number-id',
    false,
    'the number; required when the business account has two or more registered numbers',
    { ...ID, examples: ['800000000000001'] },
  ),
  IdempotencyKey: header(
    'Idempotency-Key',
    false,
    'makes repeating safe: the same key and body get the first answer again, for 24 hours',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  ),
};

export const securitySchemes: Json = {
  PartnerKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-partner-key',
    description: 'a full credential: keep it on your server, never in a browser or an address',
  },
  ConnectToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-connect-token',
    description: 'the token of a connect session; opens the completion of that onboarding alone',
  },
};

/** What the chapters of the table are about. */
export const CHAPTERS: Readonly<Record<string, string>> = {
  'Onboarding and usage': 'Connect client numbers, list and remove them, and read what was used',
  Messages: 'Send messages, react to them and mark them as read',
  'Media and contacts': 'Upload and download files, and look up phone numbers',
  Templates: 'List, create and delete message templates',
  Profile: 'The business profile of a number',
  Analytics: 'How many messages were sent, delivered and read',
  Broadcasts: 'Send one template to many contacts, at the pace that the number allows',
  'Number setup': 'QR codes, automation, blocking, commerce and settings of a number',
  'Account and diagnostics': 'What the upstream knows of the business account; read only',
  'Phone number lifecycle': 'Verify, register and deregister numbers',
  'Calling and groups': 'Calls and groups of a number that has them enabled',
  'Webhook recovery': 'Events that could not be delivered, and their redelivery',
  Health: 'Whether the service works',
};

/** What the names in paths stand for. */
export const PATH_PARAMETERS: Readonly<Record<string, { description: string; example: string }>> = {
  waba_id: { description: 'the business account', example: '900000000000001' },
  media_id: { description: 'the media file', example: '700000000000001' },
  phone: { description: 'phone number in international format', example: '15550100777' },
  template_name: { description: 'the template, in all its languages', example: 'order_update' },
  broadcast_id: { description: 'the broadcast, a whole number', example: '17' },
  code: { description: 'the QR code', example: '4O4YGZEG3RIVE1' },
  flow_id: { description: 'the flow', example: '110000000000001' },
  group_id: { description: 'the group', example: 'Y2FwaV9ncm91cDox' },
  event_id: { description: 'the event', example: 'evt_01J6' },
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
