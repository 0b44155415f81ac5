// Builds the AsyncAPI 3 document from the webhooks of the OpenAPI document: the events as a
// partner's receiver gets them.
import type { OpenApiDocument } from './index';
import type { Json, Parameter } from './schemas';
import type { WebhookItem } from './webhooks';

const JSON_TYPE = 'application/json';
const DESCRIPTION = `The events that the service posts to your webhook URL. Every event of your clients’ numbers has a channel and a message here; all channels have the address of your webhook URL. Deliveries are signed, in order within a conversation, and retried over two days. The same events can be read from the log, \`GET /events\`.`;
const SERVER = 'receiver';
const HEADERS = 'DeliveryHeaders';

export function buildAsyncApi(document: OpenApiDocument) {
  const { info, servers, webhooks } = document;
  const events = Object.entries(webhooks);
  const docs_url = info.contact.url;
  const schemas: Record<string, Json> = {
    [HEADERS]: headersOf(events[0]?.[1].post.parameters ?? []),
  };
  for (const [, { post }] of events) collect(document, post.requestBody, schemas);
  return {
    asyncapi: '3.0.0',
    info: {
      title: `${info.title}: events`,
      version: info.version,
      description: DESCRIPTION,
      contact: info.contact,
      license: info.license,
      externalDocs: { description: 'How to receive events', url: `${docs_url}/receiving` },
      tags: [{ name: 'Events', description: `Of the API at ${servers[0]?.url ?? ''}.` }],
    },
    defaultContentType: JSON_TYPE,
    servers: { [SERVER]: receiver },
    channels: Object.fromEntries(events.map(([name, item]) => [name, channelOf(name, item)])),
    operations: Object.fromEntries(
      events.map(([name, item]) => [item.post.operationId, operationOf(name, item)]),
    ),
    components: {
      messages: Object.fromEntries(
        events.map(([name, item]) => [name, messageOf(name, item, docs_url)]),
      ),
      schemas,
    },
  };
}

const receiver: Json = {
  title: 'Your receiver',
  host: '{webhook_host}',
  protocol: 'https',
  description: 'Your webhook URL. The service sends to it; your program receives.',
  variables: {
    webhook_host: { description: 'Host of your webhook URL.', default: 'partner.example.com' },
  },
};

const channelOf = (name: string, { post }: WebhookItem): Json => ({
  address: '{webhook_path}',
  title: name,
  summary: `${post.summary}.`,
  servers: [{ $ref: `#/servers/${SERVER}` }],
  parameters: {
    webhook_path: { description: 'Path of your webhook URL.', default: 'hook' },
  },
  messages: { [name]: { $ref: `#/components/messages/${name}` } },
});

/** `receive`, because the document describes the partner's program. */
const operationOf = (name: string, { post }: WebhookItem): Json => ({
  action: 'receive',
  title: name,
  summary: `${post.summary}.`,
  description: Object.entries(post.responses)
    .map(([status, { description }]) => `Answer ${status}: ${description}`)
    .join(' '),
  channel: { $ref: `#/channels/${name}` },
  messages: [{ $ref: `#/channels/${name}/messages/${name}` }],
  bindings: { http: { method: 'POST' } },
});

function messageOf(name: string, { post }: WebhookItem, docs_url: string): Json {
  const content = post.requestBody.content[JSON_TYPE];
  return {
    name,
    title: name,
    summary: `${post.summary}.`,
    ...(post.description && { description: post.description }),
    contentType: JSON_TYPE,
    headers: { $ref: `#/components/schemas/${HEADERS}` },
    correlationId: {
      description: 'ID of the event, the same on every attempt.',
      location: '$message.header#/webhook-id',
    },
    payload: content?.schema,
    externalDocs: { url: `${docs_url}/reference#${name}` },
    examples: [{ name, headers: exampleHeaders(post.parameters), payload: content?.example }],
  };
}

/** All events have the same headers. */
const headersOf = (headers: Parameter[]): Json => ({
  type: 'object',
  properties: Object.fromEntries(
    headers.map(({ name, description, schema }) => [name, { ...schema, description }]),
  ),
  required: headers.filter(({ required }) => required).map(({ name }) => name),
});

const exampleHeaders = (headers: Parameter[]): Json =>
  Object.fromEntries(
    headers.map(({ name, schema }) => [name, (schema['examples'] as string[])[0]]),
  );

const SCHEMAS = '#/components/schemas/';

/** Adds the schemas that a value refers to, at any depth. */
function collect({ components }: OpenApiDocument, value: unknown, into: Record<string, Json>) {
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    waiting.push(...Object.values(next));
    const reference = (next as { $ref?: unknown }).$ref;
    if (typeof reference !== 'string' || !reference.startsWith(SCHEMAS)) continue;
    const name = reference.slice(SCHEMAS.length);
    const schema = components['schemas']?.[name] as Json | undefined;
    if (!schema || into[name]) continue;
    into[name] = schema;
    waiting.push(schema);
  }
}
