// Builds the `webhooks` of the OpenAPI document: one entry per event that the service posts to
// partners.
import { exampleOf } from './example';
import { EVENTS, type EventDocs } from './events';
import * as is from '../endpoints/parts/answers';
import { describeSchema, type Json, type Parameter, type SharedSchemas } from './schemas';
import type { Schema } from '../endpoints/parts/schema';

export interface WebhookItem {
  post: {
    operationId: string;
    summary: string;
    description?: string;
    parameters: Parameter[];
    requestBody: { required: true; content: Record<string, { schema: Json; example: unknown }> };
    responses: Record<string, { description: string }>;
    security: never[];
  };
}

const waba_id = (if_known = false): Schema =>
  if_known ? is.maybe.text('900000000000001') : is.text('900000000000001');

/** The envelope of an event, with its data. */
const envelope = (name: string, { data, without_account, account_if_known }: EventDocs): Schema =>
  is.record({
    event: { const: name },
    waba_id: without_account ? { type: 'null', examples: [null] } : waba_id(account_if_known),
    phone_number_id: without_account
      ? { type: 'null', examples: [null] }
      : is.maybe.text('800000000000001', 'Null for an event of the business account.'),
    timestamp: is.whole(1_790_000_000, 'Epoch seconds.'),
    data,
    meta: is.event_meta,
  });

const EXTRA =
  'An extra event: it is sent only to an endpoint whose `events` name it, or have a prefix of it that was set after release 2.10, and to your webhook URL if `extra_events` names it.';

const header = (name: string, description: string, example: string): Parameter => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', examples: [example] },
});

const HEADERS: Parameter[] = [
  header(
    'webhook-id',
    'ID of the event. Ignore an event whose ID you have already processed.',
    is.EVENT_ID,
  ),
  header('webhook-timestamp', 'Time of this attempt, in epoch seconds.', '1790000000'),
  header(
    'webhook-signature',
    'Signature of the Standard Webhooks convention: `v1,` and base64, one per valid secret.',
    'v1,…=',
  ),
  header(
    'x-service-signature',
    'HMAC-SHA256 over the exact bytes of the body, in hex.',
    'sha256=…',
  ),
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
      example: { ...(exampleOf(schema) as object), data: exampleData(docs) },
    },
  };
  return {
    operationId: operationIdOf(name),
    summary: docs.summary,
    ...(docs.extra && { description: EXTRA }),
    parameters: HEADERS,
    requestBody: { required: true as const, content },
    responses: {
      '2XX': { description: 'Delivered. Any other status, or none within 10 seconds, is retried.' },
      '410': { description: 'Stops the retries of this event.' },
    },
    security: [],
  };
}

const exampleData = ({ data, example = {} }: EventDocs): object =>
  Object.fromEntries(
    Object.entries({ ...(exampleOf(data) as object), ...example }).filter(
      ([, value]) => value !== undefined,
    ),
  );

/** `template.status_updated` → `onTemplateStatusUpdated`. */
const operationIdOf = (name: string): string =>
  `on${name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}`;
