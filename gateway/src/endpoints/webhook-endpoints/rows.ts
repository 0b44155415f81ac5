// The webhook endpoints beside the partner's webhook URL.
import { EndpointsDefinition, type Endpoint as WebhookEndpoint } from '@bmg/proto/endpoints';
import { SettingsDefinition, type PartnerSettings } from '@bmg/proto/settings';
import { attempts, endpoint, params, secret, secretOfUrl, tested, webhook } from './answers';
import * as schemas from './schemas';
import { del, get, patch, post, rpc, type Endpoint, type Fields } from '../endpoint';
import * as is from '../parts/answers';
import { overlapHours } from '../parts/inputs';
import {
  hasAny,
  itemsOf,
  ofOne,
  partnerAddition,
  refuseNoChange,
  siteOf,
  withoutOverlap,
} from '../parts/rows';
import type { Static } from '../parts/schema';
import { shaped } from '../parts/shape';

const CHECK =
  'the address gets a signed event `webhook.test` first and must answer it with 2xx; a destination must store it. Otherwise nothing is changed, and the error names the field with the reason.';

/** Above the 10 seconds that the receiver has for the test event, and the calls around it. */
export const CHECK_TIMEOUT_MS = 20_000;

const shownEndpoint = shaped(endpoint);

/** Zero and a blank stand for no limit and no URL. */
const shown = (given: WebhookEndpoint | undefined): Fields => {
  const { url, destination, max_per_second, ...one } = given as WebhookEndpoint;
  return shownEndpoint({
    ...one,
    url: url || null,
    destination: destination && { type: destination.type, ...destination.settings },
    max_per_second: max_per_second || null,
  });
};

/** Rows with it take no Idempotency-Key: the answer would be stored with the secret in it. */
const withSecret = (answer: {
  endpoint?: WebhookEndpoint | undefined;
  secret: string;
}): Fields => ({ endpoint: shown(answer.endpoint), secret: answer.secret || null });

const destinationOf = ({ type = '', ...settings }: { type?: string } & Fields) => ({
  type,
  settings,
});

/** Null removes a filter, the headers or the limit. */
const settingsOf = (body: Static<typeof schemas.updateWebhookEndpoint>) => ({
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

const ofEndpoint = ofOne(params);

const rotation = overlapHours('signs');

const CHANGES = Object.keys(schemas.updateWebhookEndpoint.properties);

/** They may hold secrets. */
const UNAUDITED = ['url', 'destination', 'description', 'headers'];
const AUDITED = CHANGES.filter((field) => !UNAUDITED.includes(field));

/** Fields that say where events go, and which. */
const WHERE_AND_WHICH = ['url', 'destination', 'events', 'waba_ids', 'phone_number_ids'];

const shownWebhook = shaped(is.record({ webhook }));

const webhookOf = ({ webhook_secret, ...settings }: PartnerSettings): Fields =>
  shownWebhook({
    webhook: {
      ...settings,
      secret_created_at: webhook_secret?.created_at,
      previous_secret_expires_at: webhook_secret?.previous_expires_at,
    },
  });

const WEBHOOK_CHANGES = Object.keys(schemas.updateWebhook.properties);

/** An empty text removes a value. */
export const emptyIfNull = (text: string | null | undefined): string | undefined =>
  text === null ? '' : text;

/** The request's part for the webhook URL: null removes it, and an absent field stays. */
export const webhookChange = ({
  webhook_url,
  extra_events,
}: Static<typeof schemas.updateWebhook>) => ({
  webhook_url: emptyIfNull(webhook_url),
  extra_events: extra_events && { names: [...extra_events] },
});

/** For the meta of the test event. */
export const changelogOf = (base_url: string): string => `${siteOf(base_url)}/changelog`;

export const webhookEndpoints: Endpoint[] = [
  get('/webhook', rpc(SettingsDefinition, 'getSettings'), {
    ...partnerAddition,
    reply: webhookOf,
    summary: 'Retrieve the settings of your webhook URL',
    operation: 'getWebhook',
    answer: is.record({ webhook }),
    notes: 'The webhook URL gets all events of the contract. Its secret is never shown.',
  }),
  patch('/webhook', rpc(SettingsDefinition, 'updateSettings'), {
    ...partnerAddition,
    hands_events: (body) => hasAny(body, WEBHOOK_CHANGES),
    body: schemas.updateWebhook,
    request: ({ body, partner_id }) => {
      refuseNoChange(body, WEBHOOK_CHANGES);
      return { partner_id, ...webhookChange(body), alerts: {} };
    },
    omits: ['logo_url', 'connect_origins', 'contacts'],
    reply: webhookOf,
    audit: { values: ['extra_events'], before_of: 'partner' },
    summary: 'Change your webhook URL and its extra events',
    operation: 'updateWebhook',
    answer: is.record({ webhook }),
    example: { webhook_url: 'https://partner.example.com/webhooks' },
    notes: '`POST /webhook-endpoints` adds further receivers, with filters.',
  }),
  post('/webhook/rotate-secret', rpc(SettingsDefinition, 'rotateWebhookSecret'), {
    ...partnerAddition,
    fresh_log_in: true,
    body: rotation,
    reply: ({ webhook_secret }) => ({ secret: webhook_secret }),
    audit: { values: ['overlap_hours'], reduces_risk: withoutOverlap },
    summary: 'Replace the secret of your webhook URL',
    answer: is.record({ secret }),
    example: { overlap_hours: 24 },
    notes:
      'Makes a new secret for the webhook URL. For `overlap_hours` more, deliveries carry the signatures of both in `webhook-signature`; `x-service-signature` is made with the new one only.',
  }),
  get('/webhook-endpoints', rpc(EndpointsDefinition, 'listEndpoints'), {
    ...partnerAddition,
    reply: ({ endpoints, endpoints_max }) => ({ endpoints: endpoints.map(shown), endpoints_max }),
    summary: 'List your webhook endpoints',
    answer: is.record({
      endpoints: is.list(endpoint, 'The oldest first.'),
      endpoints_max: is.whole(10, 'As many as you may have.'),
    }),
    notes:
      'Lists the endpoints that get events beside your webhook URL, with how their deliveries go. The webhook URL itself is not among them.',
  }),
  get('/webhook-endpoints/:endpoint_id', rpc(EndpointsDefinition, 'getEndpoint'), {
    ...ofEndpoint,
    reply: (endpoint) => ({ endpoint: shown(endpoint) }),
    summary: 'Retrieve a webhook endpoint with its health',
    answer: is.record({ endpoint }),
    notes:
      'Returns an endpoint with how its deliveries go. Its secret, the values of its headers and the credentials of its destination are not shown.',
  }),
  post('/webhook-endpoints', rpc(EndpointsDefinition, 'createEndpoint'), {
    ...partnerAddition,
    hands_events: true,
    status: 201,
    timeout_ms: CHECK_TIMEOUT_MS,
    body: schemas.createWebhookEndpoint,
    request: ({ body, partner_id, base_url }) => ({
      partner_id,
      settings: settingsOf(body),
      changelog: changelogOf(base_url),
      secret: body.secret,
    }),
    reply: withSecret,
    audit: { values: AUDITED, ids: { endpoint_id: 'endpoint.endpoint_id' } },
    summary: 'Add a webhook endpoint with a filter',
    answer: is.record({ endpoint, secret: secretOfUrl }),
    example: {
      url: 'https://crm.example.com/messages',
      description: 'CRM',
      events: ['message.*'],
      headers: { 'x-crm-token': 'a-token-of-yours' },
      max_per_second: 20,
    },
    codes: ['LIMIT_REACHED'],
    notes: `Adds an endpoint beside your webhook URL, which keeps getting every event. With a new secret, a URL is \`untested\` until it answers a signed event \`webhook.test\` with 2xx: the gateway posts one after this answer, four times in eleven minutes at most, and \`POST /webhook-endpoints/{endpoint_id}/test\` posts one now. With your own \`secret\`, and for a destination: ${CHECK}`,
  }),
  patch('/webhook-endpoints/:endpoint_id', rpc(EndpointsDefinition, 'updateEndpoint'), {
    ...ofEndpoint,
    hands_events: (body) => hasAny(body, WHERE_AND_WHICH),
    timeout_ms: CHECK_TIMEOUT_MS,
    body: schemas.updateWebhookEndpoint,
    request: ({ body, params, partner_id, base_url }) => {
      refuseNoChange(body, CHANGES);
      return {
        partner_id,
        endpoint_id: params.endpoint_id,
        settings: settingsOf(body),
        changelog: changelogOf(base_url),
      };
    },
    reply: (endpoint) => ({ endpoint: shown(endpoint) }),
    audit: { values: AUDITED },
    summary: 'Change, pause or resume a webhook endpoint',
    answer: is.record({ endpoint }),
    example: { status: 'paused' },
    codes: ['NOT_FOUND', 'MISSING_FIELDS'],
    notes: `Changes what is given and keeps the rest; null removes a filter, the headers or the limit. Of a destination, settings that are absent stay, and null sets the default; its type cannot change. For another server, give its headers or its password again: stored ones are not sent there. After a change of the address, the destination, the headers or the format, and to enable an untested or a disabled endpoint: ${CHECK} Deliveries that wait for it are attempted at once.`,
  }),
  del('/webhook-endpoints/:endpoint_id', rpc(EndpointsDefinition, 'deleteEndpoint'), {
    ...ofEndpoint,
    audit: { reduces_risk: true },
    summary: 'Delete a webhook endpoint',
    answer: is.nothing,
    notes: 'Removes an endpoint with the deliveries that wait for it.',
  }),
  post(
    '/webhook-endpoints/:endpoint_id/rotate-secret',
    rpc(EndpointsDefinition, 'rotateEndpointSecret'),
    {
      ...ofEndpoint,
      body: rotation,
      request: ({ body, params, partner_id }) => ({
        partner_id,
        endpoint_id: params.endpoint_id,
        overlap_hours: body.overlap_hours as number,
      }),
      reply: withSecret,
      audit: { values: ['overlap_hours'], reduces_risk: withoutOverlap },
      summary: 'Replace the secret of a webhook endpoint',
      answer: is.record({ endpoint, secret }),
      example: { overlap_hours: 24 },
      notes:
        'Makes a new secret for the endpoint, which must have a URL. For `overlap_hours` more, deliveries carry the signatures of both in `webhook-signature`; `x-service-signature` is made with the new one only.',
    },
  ),
  post('/webhook-endpoints/:endpoint_id/test', rpc(EndpointsDefinition, 'testEndpoint'), {
    ...ofEndpoint,
    timeout_ms: CHECK_TIMEOUT_MS,
    request: ({ params, partner_id, base_url }) => ({
      partner_id,
      endpoint_id: params.endpoint_id,
      changelog: changelogOf(base_url),
    }),
    reply: shaped(tested),
    summary: 'Send a test event to a webhook endpoint',
    answer: tested,
    notes:
      'Sends one event `webhook.test` now, signed for a URL, and reports the answer. It is neither stored nor retried. A paused or disabled endpoint can be tested too; an untested one becomes active when it answers 2xx.',
  }),
  get(
    '/webhook-endpoints/:endpoint_id/attempts',
    rpc(EndpointsDefinition, 'listEndpointAttempts'),
    {
      ...ofEndpoint,
      reply: shaped(attempts),
      summary: 'List the latest attempts at a webhook endpoint',
      answer: attempts,
      notes: 'Lists the latest attempts, whatever their events. They appear within a second.',
    },
  ),
];
