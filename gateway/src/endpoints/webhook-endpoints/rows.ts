// The webhook endpoints beside the partner's webhook URL.
import { missingFields } from '@bmg/common/errors';
import { EndpointsDefinition, type Endpoint as WebhookEndpoint } from '@bmg/proto/endpoints';
import { SettingsDefinition, type PartnerSettings } from '@bmg/proto/settings';
import * as docs from './docs';
import * as schemas from './schemas';
import { del, get, patch, post, rpc, type Endpoint, type Fields } from '../endpoint';
import { siteOf, withoutOverlap } from '../parts/rows';

/** Above the 10 seconds that the receiver has for the test event, and the calls around it. */
export const CHECK_TIMEOUT_MS = 20_000;

/** The service leaves out what does not limit an endpoint; partners see null. */
const orNull = (list: readonly string[]): readonly string[] | null =>
  list.length > 0 ? list : null;

const shown = (endpoint: WebhookEndpoint | undefined): Fields => {
  const { health, destination, untested: _untested, ...one } = endpoint as WebhookEndpoint;
  return {
    ...one,
    url: one.url || null,
    destination: destination ? { type: destination.type, ...destination.settings } : null,
    events: orNull(one.events),
    waba_ids: orNull(one.waba_ids),
    phone_number_ids: orNull(one.phone_number_ids),
    max_per_second: one.max_per_second || null,
    disabled_at: one.disabled_at ?? null,
    previous_secret_expires_at: one.previous_secret_expires_at ?? null,
    health: {
      ...health,
      last_success_at: health?.last_success_at ?? null,
      failing_since: health?.failing_since ?? null,
      last_error: health?.last_error ?? null,
      last_http_status: health?.last_http_status ?? null,
    },
  };
};

/** Takes no Idempotency-Key: the answer would be stored with the secret in it. */
const withSecret = (answer: {
  endpoint?: WebhookEndpoint | undefined;
  secret: string;
}): Fields => ({ endpoint: shown(answer.endpoint), secret: answer.secret || null });

const itemsOf = (
  list: readonly string[] | null | undefined,
): { items: readonly string[] } | undefined =>
  list === undefined ? undefined : { items: list ?? [] };

interface Body {
  url?: string;
  destination?: { type?: string } & Fields;
  description?: string;
  events?: readonly string[] | null;
  waba_ids?: readonly string[] | null;
  phone_number_ids?: readonly string[] | null;
  headers?: object | null;
  max_per_second?: number | null;
  status?: string;
  ordered?: boolean;
  format?: string;
  secret?: string;
}

const destinationOf = ({ type = '', ...settings }: { type?: string } & Fields) => ({
  type,
  settings,
});

/** Null removes a filter, the headers or the limit. */
const settingsOf = (body: Body) => ({
  url: body.url,
  destination: body.destination && destinationOf(body.destination),
  description: body.description,
  events: itemsOf(body.events),
  waba_ids: itemsOf(body.waba_ids),
  phone_number_ids: itemsOf(body.phone_number_ids),
  headers:
    body.headers === undefined
      ? undefined
      : { by_name: (body.headers ?? {}) as Record<string, string> },
  max_per_second: body.max_per_second === null ? 0 : body.max_per_second,
  status: body.status,
  ordered: body.ordered,
  format: body.format,
});

const CHANGES = Object.keys(schemas.updateWebhookEndpoint.properties);

/** They may hold secrets. */
const UNAUDITED = ['url', 'destination', 'description', 'headers'];
const AUDITED = CHANGES.filter((field) => !UNAUDITED.includes(field));

const hasAny =
  (fields: readonly string[]) =>
  (body: Fields): boolean =>
    fields.some((field) => body[field] !== undefined);

/** Fields that say where events go, and which. */
const WHERE_AND_WHICH = ['url', 'destination', 'events', 'waba_ids', 'phone_number_ids'];

const shownWebhook = ({ webhook_url, extra_events, webhook_secret }: PartnerSettings): Fields => ({
  webhook_url: webhook_url ?? null,
  extra_events,
  secret_created_at: webhook_secret?.created_at ?? null,
  previous_secret_expires_at: webhook_secret?.previous_expires_at ?? null,
});

const WEBHOOK_CHANGES = Object.keys(schemas.updateWebhook.properties);

/** The request's part for the webhook URL: null removes it, and an absent field stays. */
export const webhookChange = ({
  webhook_url,
  extra_events,
}: {
  webhook_url?: string | null | undefined;
  extra_events?: readonly string[] | undefined;
}) => ({
  webhook_url: webhook_url === null ? '' : webhook_url,
  extra_events: extra_events && { names: [...extra_events] },
});

/** For the meta of the test event. */
export const changelogOf = (base_url: string): string => `${siteOf(base_url)}/changelog`;

export const webhookEndpoints: Endpoint[] = [
  get('/webhook', rpc(SettingsDefinition, 'getSettings'), {
    scope: 'partner',
    addition: true,
    reply: (settings) => ({ webhook: shownWebhook(settings) }),
    docs: docs.getWebhook,
    summary: 'Retrieve the settings of your webhook URL',
  }),
  patch('/webhook', rpc(SettingsDefinition, 'updateSettings'), {
    scope: 'partner',
    addition: true,
    hands_events: hasAny(WEBHOOK_CHANGES),
    body: schemas.updateWebhook,
    request: ({ body: { webhook_url, extra_events }, partner_id }) => {
      if (!hasAny(WEBHOOK_CHANGES)({ webhook_url, extra_events })) {
        throw missingFields(WEBHOOK_CHANGES, `one of ${WEBHOOK_CHANGES.join(', ')} is required`);
      }
      return {
        partner_id,
        ...webhookChange({ webhook_url, extra_events }),
        alerts: {},
      };
    },
    omits: ['logo_url', 'connect_origins', 'contacts'],
    reply: (settings) => ({ webhook: shownWebhook(settings) }),
    audit: { values: ['extra_events'], before_of: 'partner' },
    docs: docs.updateWebhook,
    summary: 'Change your webhook URL and its extra events',
  }),
  post('/webhook/rotate-secret', rpc(SettingsDefinition, 'rotateWebhookSecret'), {
    scope: 'partner',
    addition: true,
    fresh_log_in: true,
    body: schemas.rotateEndpointSecret,
    reply: ({ webhook_secret }) => ({ secret: webhook_secret }),
    audit: { values: ['overlap_hours'], reduces_risk: withoutOverlap },
    docs: docs.rotateWebhookSecret,
    summary: 'Replace the secret of your webhook URL',
  }),
  get('/webhook-endpoints', rpc(EndpointsDefinition, 'listEndpoints'), {
    scope: 'partner',
    addition: true,
    reply: ({ endpoints, endpoints_max }) => ({ endpoints: endpoints.map(shown), endpoints_max }),
    docs: docs.listWebhookEndpoints,
    summary: 'List your webhook endpoints',
  }),
  get('/webhook-endpoints/:endpoint_id', rpc(EndpointsDefinition, 'getEndpoint'), {
    scope: 'partner',
    addition: true,
    reply: (endpoint) => ({ endpoint: shown(endpoint) }),
    docs: docs.getWebhookEndpoint,
    summary: 'Retrieve a webhook endpoint with its health',
  }),
  post('/webhook-endpoints', rpc(EndpointsDefinition, 'createEndpoint'), {
    scope: 'partner',
    addition: true,
    hands_events: true,
    status: 201,
    timeout_ms: CHECK_TIMEOUT_MS,
    body: schemas.createWebhookEndpoint,
    request: ({ body, partner_id, base_url }) => ({
      partner_id,
      settings: settingsOf(body as Body),
      changelog: changelogOf(base_url),
      secret: (body as Body).secret,
    }),
    reply: withSecret,
    audit: { values: AUDITED, ids: { endpoint_id: 'endpoint.endpoint_id' } },
    docs: docs.createWebhookEndpoint,
    summary: 'Add a webhook endpoint with a filter',
  }),
  patch('/webhook-endpoints/:endpoint_id', rpc(EndpointsDefinition, 'updateEndpoint'), {
    scope: 'partner',
    addition: true,
    hands_events: hasAny(WHERE_AND_WHICH),
    timeout_ms: CHECK_TIMEOUT_MS,
    body: schemas.updateWebhookEndpoint,
    request: ({ body, params, partner_id, base_url }) => {
      if (!hasAny(CHANGES)(body)) {
        throw missingFields(CHANGES, `one of ${CHANGES.join(', ')} is required`);
      }
      return {
        partner_id,
        endpoint_id: params.endpoint_id,
        settings: settingsOf(body as Body),
        changelog: changelogOf(base_url),
      };
    },
    reply: (endpoint) => ({ endpoint: shown(endpoint) }),
    audit: { values: AUDITED },
    docs: docs.updateWebhookEndpoint,
    summary: 'Change, pause or resume a webhook endpoint',
  }),
  del('/webhook-endpoints/:endpoint_id', rpc(EndpointsDefinition, 'deleteEndpoint'), {
    scope: 'partner',
    addition: true,
    audit: { reduces_risk: true },
    docs: docs.deleteWebhookEndpoint,
    summary: 'Delete a webhook endpoint',
  }),
  post(
    '/webhook-endpoints/:endpoint_id/rotate-secret',
    rpc(EndpointsDefinition, 'rotateEndpointSecret'),
    {
      scope: 'partner',
      addition: true,
      body: schemas.rotateEndpointSecret,
      request: ({ body, params, partner_id }) => ({
        partner_id,
        endpoint_id: params.endpoint_id,
        overlap_hours: body.overlap_hours as number,
      }),
      reply: withSecret,
      audit: { values: ['overlap_hours'], reduces_risk: withoutOverlap },
      docs: docs.rotateEndpointSecret,
      summary: 'Replace the secret of a webhook endpoint',
    },
  ),
  post('/webhook-endpoints/:endpoint_id/test', rpc(EndpointsDefinition, 'testEndpoint'), {
    scope: 'partner',
    addition: true,
    timeout_ms: CHECK_TIMEOUT_MS,
    request: ({ params, partner_id, base_url }) => ({
      partner_id,
      endpoint_id: params.endpoint_id,
      changelog: changelogOf(base_url),
    }),
    reply: (answer) => ({
      ...answer,
      http_status: answer.http_status ?? null,
      error: answer.error ?? null,
    }),
    docs: docs.testWebhookEndpoint,
    summary: 'Send a test event to a webhook endpoint',
  }),
  get(
    '/webhook-endpoints/:endpoint_id/attempts',
    rpc(EndpointsDefinition, 'listEndpointAttempts'),
    {
      scope: 'partner',
      addition: true,
      reply: ({ attempts }) => ({
        attempts: attempts.map((one) => ({
          ...one,
          http_status: one.http_status ?? null,
          error: one.error ?? null,
        })),
      }),
      docs: docs.listEndpointAttempts,
      summary: 'List the latest attempts at a webhook endpoint',
    },
  ),
];
