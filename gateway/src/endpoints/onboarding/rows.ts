import { OnboardingDefinition, type Client } from '@bmg/proto/onboarding';
import {
  callCounts,
  client,
  coexistence_sync,
  onboardingEvent,
  params,
  refreshed,
} from './answers';
import * as schemas from './schemas';
import { del, get, post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { bytesOfItems } from '../parts/rows';
import type { Static } from '../parts/schema';
import { shaped } from '../parts/shape';

const REGISTRATION_CODES = [
  'WABA_LIMIT_REACHED',
  'UPSTREAM_ERROR',
  'CARD_REQUIRED',
  'PAYMENT_FAILED',
  'PAYMENT_ACTION_REQUIRED',
] as const;
const CREATED_OR_UPDATED =
  'Answers 201 if the client is new and 200 if an existing client was updated, so the request is safe to repeat.';

const shownClient = shaped(client);
const shownEvent = shaped(onboardingEvent);
const shownCounts = shaped(callCounts);

function clientRecord({ data_sync, ...one }: Client) {
  const { error_code: code, error_message: message, ...history } = data_sync?.history ?? {};
  const synced = data_sync?.history && {
    ...history,
    error: code === undefined ? code : { code, message },
  };
  return shownClient({ ...one, data_sync: data_sync && { ...data_sync, history: synced } });
}

const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** A date stands for its start as `from` and for its end as `to`. The schema has checked both. */
function timeOf(query: Static<typeof schemas.getUsage>, field: 'from' | 'to'): Date | undefined {
  const text = query[field];
  if (text === undefined) return undefined;
  const time_of_day = field === 'from' ? 'T00:00:00.000Z' : 'T23:59:59.999Z';
  return new Date(text.length === DAY_LENGTH ? text + time_of_day : text.replace(' ', '+'));
}

/** A sign-up makes many upstream requests, one after the other. */
const SIGN_UP_TIMEOUT_MS = 45_000;

/** A number with a data sync whose history was refused. */
const CLIENT_BYTES = 1_280;

export const onboarding: Endpoint[] = [
  post('/clients/register-from-code', rpc(OnboardingDefinition, 'registerFromCode'), {
    scope: 'session',
    audit: {
      values: ['display_name', 'connection_mode'],
      ids: { waba_id: 'client.waba_id', phone_number_id: 'client.phone_number_id' },
    },
    body: schemas.registerFromCode,
    timeout_ms: SIGN_UP_TIMEOUT_MS,
    status: ({ created }) => (created ? 201 : 200),
    request: ({ body, partner_id, session_id }) => ({ ...body, partner_id, session_id }),
    reply: ({ client, state, coexistence_sync }) => ({
      client: clientRecord(client as Client),
      ...(state !== undefined && { state }),
      coexistence_sync,
    }),
    summary: 'Register a client from an embedded sign-up code',
    answer: is.record(
      {
        client,
        state: is.text('order-4711', 'The `state` of the connect session.'),
        coexistence_sync,
      },
      { optional: ['state'] },
    ),
    example: { code: 'CODE-OF-THE-SIGN-UP-DIALOG', display_name: 'Example Shop' },
    codes: [
      'PLATFORM_NOT_CONFIGURED',
      'CODE_EXCHANGE_FAILED',
      'DISCOVERY_FAILED',
      ...REGISTRATION_CODES,
    ],
    notes: `Completes an embedded sign-up. Authenticate with your partner key, or with the token of a connect session in the header \`x-connect-token\`. A session can be completed until 30 minutes after it expired. ${CREATED_OR_UPDATED}`,
  }),
  post('/connect/session', rpc(OnboardingDefinition, 'createConnectSession'), {
    scope: 'partner',
    audit: { values: ['display_name', 'origin', 'success_url', 'failure_url'] },
    body: schemas.createConnectSession,
    status: 201,
    request: ({ body, partner_id, key_id }) => ({ ...body, partner_id, key_id }),
    summary: 'Create a link to the hosted onboarding page',
    answer: is.record({
      connect_url: is.text(
        'https://gateway.example.com/connect?token=…',
        'Link to the hosted onboarding page. Open it in a popup.',
      ),
      token: is.text('…', 'Token of this session. It authorizes this one onboarding only.'),
      expires_in: is.whole(1800, 'Seconds until the link expires.'),
    }),
    example: {
      display_name: 'Example Shop',
      state: 'order-4711',
      origin: 'https://shop.example.com',
    },
    codes: ['QUOTA_EXCEEDED'],
    notes:
      'The link can be opened for 30 minutes, and completed for 30 minutes more. Create it on your server, one for each onboarding. Name the `origin` of the page that opens it: without it, the page that opened the link gets the outcome without the names and IDs of the client. A link without a page that opens it names `success_url` and `failure_url`: the sign-up page leads there.',
  }),
  get('/onboarding/events', rpc(OnboardingDefinition, 'listOnboardingEvents'), {
    scope: 'partner',
    reads: 'list',
    query: schemas.listOnboardingEvents,
    reply: ({ events }, { query }) => ({
      count: events.length,
      events: events.map(shownEvent),
      limit: query.limit,
    }),
    summary: 'List onboarding steps and failures, newest first',
    answer: is.record({
      count: is.whole(1),
      events: is.list(onboardingEvent),
      limit: is.used_limit,
    }),
    notes: 'Shows at which step a sign-up stopped, and with which error.',
  }),
  get('/embedded-signup/config', rpc(OnboardingDefinition, 'getEmbeddedSignupConfig'), {
    scope: 'partner',
    summary: 'Retrieve the configuration of a self-hosted sign-up dialog',
    answer: is.record({
      app_id: is.text('100000000000001'),
      config_id: is.text('200000000000001'),
      connection_mode: is.choice(['coexistence']),
      extras: is.node({
        setup: is.node({}),
        featureType: is.text('messaging_business_app_onboarding'),
        sessionInfoVersion: is.text('3'),
        version: is.text('v4'),
      }),
    }),
    codes: ['PLATFORM_NOT_CONFIGURED'],
    notes: 'Only needed if you host the sign-up dialog yourself. The hosted page does not need it.',
  }),
  get('/usage', rpc(OnboardingDefinition, 'getUsage'), {
    scope: 'partner',
    key_scope: 'billing',
    reads: 'list',
    query: schemas.getUsage,
    request: ({ query, partner_id }) => ({
      partner_id,
      from: timeOf(query, 'from'),
      to: timeOf(query, 'to'),
    }),
    reply: ({ from, to, endpoints, messages, billing }) => ({
      period: { from, to },
      endpoints: endpoints.map(shownCounts),
      messages: Object.fromEntries(messages.map(({ category, ...counts }) => [category, counts])),
      billing,
    }),
    summary: 'Retrieve usage counters and billing',
    answer: is.record({
      period: is.record({ from: is.time(), to: is.time() }),
      endpoints: is.list(callCounts),
      messages: is.byName(
        is.record({
          sent: is.whole(120),
          delivered: is.whole(118),
          read: is.whole(90),
          failed: is.whole(2),
          billable: is.whole(20),
          free: is.whole(98),
        }),
        'Counts by category, such as `service`, `utility`, `marketing` or `authentication`.',
      ),
      billing: is.record({
        slots: is.whole(1, 'Billing slots. One slot covers 3 business accounts.'),
        peak_active_wabas: is.whole(2, 'Most business accounts active at once in the month.'),
        active_wabas: is.whole(2, 'Business accounts active now.'),
        fee_usd: is.amount(10),
      }),
    }),
    notes:
      '`endpoints` counts requests, `messages` counts messages by category, `billing` shows the slots of the period.',
  }),
  post('/clients/register', rpc(OnboardingDefinition, 'registerClient'), {
    scope: 'partner',
    audit: {
      values: ['display_name'],
      ids: { waba_id: 'waba_id', phone_number_id: 'phone_number_id' },
    },
    body: schemas.registerClient,
    status: ({ created }) => (created ? 201 : 200),
    reply: ({ client, coexistence_sync }) => ({
      client: clientRecord(client as Client),
      coexistence_sync,
    }),
    summary: 'Register a client with an access token',
    answer: is.record({ client, coexistence_sync }),
    example: {
      waba_id: '900000000000001',
      phone_number_id: '800000000000001',
      access_token: '<ACCESS_TOKEN>',
      display_name: 'Example Shop',
    },
    codes: REGISTRATION_CODES,
    notes: `${CREATED_OR_UPDATED} Registering a deleted client restores it.`,
  }),
  get('/clients', rpc(OnboardingDefinition, 'listClients'), {
    scope: 'partner',
    reads: 'list',
    answer_bytes: bytesOfItems(CLIENT_BYTES),
    query: schemas.listClients,
    reply: ({ clients, total }, { query }) => ({
      clients: clients.map(clientRecord),
      total,
      limit: query.limit,
      offset: query.offset,
    }),
    summary: 'List registered numbers',
    answer: is.record({
      clients: is.list(client),
      total: is.whole(1),
      limit: is.used_limit,
      offset: is.whole(0),
    }),
    notes: 'A business account with several registered numbers has one client per number.',
  }),
  del('/clients/:waba_id', rpc(OnboardingDefinition, 'deleteClient'), {
    scope: 'partner',
    reply: ({ events_removed_by }) => ({ events_removed_by }),
    summary: 'Delete a client',
    params,
    answer: is.record({
      events_removed_by: is.time(
        'Until then, events that came before the deletion can be in your event log: `GET /events`.',
      ),
    }),
    codes: ['WABA_NOT_REGISTERED'],
    notes:
      'Messaging stops at once. Ask your operator to have the events removed earlier. To restore the client, register the same business account again.',
  }),
  post('/clients/:waba_id/refresh', rpc(OnboardingDefinition, 'refreshClient'), {
    scope: 'partner',
    audit: { ids: { phone_number_id: 'phone_number_id' } },
    body: schemas.refreshClient,
    reply: shaped(refreshed),
    summary: 'Refresh a client, or replace its access token',
    params,
    answer: refreshed,
    example: {},
    codes: ['WABA_NOT_REGISTERED', 'UPSTREAM_ERROR'],
    notes:
      'Fetches the current values from the upstream. If `access_token` is given and the upstream accepts it, it replaces the stored token; if the upstream rejects it, the stored token stays.',
  }),
  post('/clients/:waba_id/resubscribe-webhook', rpc(OnboardingDefinition, 'resubscribeWebhook'), {
    scope: 'partner',
    summary: 'Resubscribe a business account to webhooks',
    params,
    answer: is.record({ message: is.text('the business account is subscribed to webhooks') }),
    codes: ['WABA_NOT_REGISTERED', 'UPSTREAM_ERROR'],
    notes: 'Restores the event flow of a business account. Safe to call at any time.',
  }),
];
