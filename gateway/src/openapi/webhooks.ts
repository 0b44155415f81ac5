// The `webhooks` of the OpenAPI document: what the service posts to a partner's own address, an entry an event.
import { API_VERSION, NOTICES } from '@bmg/common/notices';
import { exampleOf } from '../docs/example';
import { EVENTS, type EventDocs } from './events';
import * as is from '../endpoints/parts/answers';
import { describeSchema, type Json, type SharedSchemas } from './schemas';
import type { Schema } from '../endpoints/parts/schema';

export interface WebhookItem {
  post: {
    operationId: string;
    summary: string;
    parameters: Json[];
    requestBody: { required: true; content: Record<string, { schema: Json; example: unknown }> };
    responses: Record<string, { description: string }>;
    security: never[];
  };
}

const EVENT_ID = 'evt_8_kN_6GiC20OAm37';

const meta: Schema = {
  ...is.record({
    event_id: is.text(EVENT_ID, 'the same on every try and every repetition; also `webhook-id`'),
    api_version: is.text(API_VERSION),
    changelog: is.text('https://gateway.example.com/changelog'),
    notices: is.list(
      is.record({
        id: is.text(NOTICES[0]?.id ?? 'notice'),
        severity: is.choice(['info', 'action_required', 'breaking']),
        effective: { type: 'string', format: 'date', examples: ['2026-10-01'] },
      }),
    ),
  }),
  title: 'EventMeta',
};

/** The envelope, with the data of this event. */
const envelope = (name: string, { data, about_nobody }: EventDocs): Schema =>
  is.record({
    event: { const: name },
    waba_id: about_nobody ? { type: 'null', examples: [null] } : is.text('900000000000001'),
    phone_number_id: about_nobody
      ? { type: 'null', examples: [null] }
      : is.orNull(is.text('800000000000001', 'null for an event of the account')),
    timestamp: is.whole(1_790_000_000, 'epoch seconds'),
    data,
    meta,
  });

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', examples: [example] },
});

const HEADERS: Json[] = [
  header('webhook-id', 'the event’s id: pass over one that you have had', EVENT_ID),
  header('webhook-timestamp', 'epoch seconds of this try', '1790000000'),
  header(
    'webhook-signature',
    'Standard Webhooks: `v1,` and base64, one for each valid secret',
    'v1,…=',
  ),
  header('x-service-signature', 'HMAC-SHA256 over the exact bytes of the body', 'sha256=…'),
];

export const webhooksOf = (shared: SharedSchemas): Record<string, WebhookItem> =>
  Object.fromEntries(
    Object.entries(EVENTS).map(([name, docs]) => [name, { post: postOf(name, docs, shared) }]),
  );

function postOf(name: string, docs: EventDocs, shared: SharedSchemas) {
  const schema = envelope(name, docs);
  const content = {
    'application/json': {
      schema: describeSchema(schema, { shared }) as Json,
      example: exampleOf(schema),
    },
  };
  return {
    operationId: operationIdOf(name),
    summary: docs.summary,
    parameters: HEADERS,
    requestBody: { required: true as const, content },
    responses: {
      '2XX': { description: 'taken; anything else, or none within 10 seconds, is tried again' },
      '410': { description: 'ends the tries of this event' },
    },
    security: [],
  };
}

/** `template.status_updated` → `onTemplateStatusUpdated`. */
const operationIdOf = (name: string): string =>
  `on${name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}`;
