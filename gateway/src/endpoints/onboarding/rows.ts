import {
  OnboardingDefinition,
  type Client,
  type GetUsageResponse,
  type HistorySync,
  type OnboardingEvent,
} from '@bmg/proto/onboarding';
import * as docs from './docs';
import * as schemas from './schemas';
import { del, get, post, rpc, type Endpoint, type Fields } from '../endpoint';
import type { Static } from '../parts/schema';

/** The operator's view of a client has the partner; the partner's own does not. */
const clientRecord = ({ partner_id: _partner_id, data_sync, ...client }: Client): Fields => ({
  ...client,
  quality_rating: client.quality_rating ?? null,
  messaging_limit_tier: client.messaging_limit_tier ?? null,
  throughput_level: client.throughput_level ?? null,
  last_activity_at: client.last_activity_at ?? null,
  data_sync: data_sync
    ? {
        ...data_sync,
        contacts_requested_at: data_sync.contacts_requested_at ?? null,
        history_requested_at: data_sync.history_requested_at ?? null,
        history: historyRecord(data_sync.history),
      }
    : null,
});

function historyRecord(history: HistorySync | undefined): Fields | null {
  if (!history) return null;
  const { phase, progress, received_at, error_code, error_message } = history;
  return {
    phase: phase ?? null,
    progress: progress ?? null,
    received_at,
    error: error_code === undefined ? null : { code: error_code, message: error_message },
  };
}

/** The contract shows null if a proto field is absent. */
const eventRecord = (event: OnboardingEvent): Fields => ({
  state: event.state ?? null,
  current_step: event.current_step,
  error_code: event.error_code ?? null,
  error_message: event.error_message ?? null,
  upstream_session_id: event.upstream_session_id ?? null,
  waba_id: event.waba_id ?? null,
  phone_number_id: event.phone_number_id ?? null,
  created_at: event.created_at,
});

const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** A date stands for its start as `from` and for its end as `to`. The schema has checked both. */
function timeOf(query: Static<typeof schemas.getUsage>, field: 'from' | 'to'): Date | undefined {
  const text = query[field];
  if (text === undefined) return undefined;
  const time_of_day = field === 'from' ? 'T00:00:00.000Z' : 'T23:59:59.999Z';
  return new Date(text.length === DAY_LENGTH ? text + time_of_day : text.replace(' ', '+'));
}

const usageRecord = ({ from, to, endpoints, messages, billing }: GetUsageResponse): Fields => ({
  period: { from, to },
  endpoints: endpoints.map(({ method, ...row }) => ({ method: method ?? null, ...row })),
  messages: Object.fromEntries(messages.map(({ category, ...counts }) => [category, counts])),
  billing,
});

/** A sign-up makes many upstream requests, one after the other. */
const SIGN_UP_TIMEOUT_MS = 45_000;

/** A number with a data sync whose history was refused. */
const CLIENT_BYTES = 1_280;
const CLIENTS_DEFAULT = 100;

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
    docs: docs.registerFromCode,
    summary: 'Register a client from an embedded sign-up code',
  }),
  post('/connect/session', rpc(OnboardingDefinition, 'createConnectSession'), {
    scope: 'partner',
    audit: { values: ['display_name', 'origin', 'success_url', 'failure_url'] },
    body: schemas.createConnectSession,
    status: 201,
    request: ({ body, partner_id, key_id }) => ({ ...body, partner_id, key_id }),
    reply: (reply) => ({ ...reply }),
    docs: docs.createConnectSession,
    summary: 'Create a link to the hosted onboarding page',
  }),
  get('/onboarding/events', rpc(OnboardingDefinition, 'listOnboardingEvents'), {
    scope: 'partner',
    reads: 'list',
    query: schemas.listOnboardingEvents,
    reply: ({ events }, { query }) => ({
      count: events.length,
      events: events.map(eventRecord),
      limit: query.limit,
    }),
    docs: docs.listOnboardingEvents,
    summary: 'List onboarding steps and failures, newest first',
  }),
  get('/embedded-signup/config', rpc(OnboardingDefinition, 'getEmbeddedSignupConfig'), {
    scope: 'partner',
    docs: docs.getEmbeddedSignupConfig,
    summary: 'Retrieve the configuration of a self-hosted sign-up dialog',
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
    reply: usageRecord,
    docs: docs.getUsage,
    summary: 'Retrieve usage counters and billing',
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
    docs: docs.registerClient,
    summary: 'Register a client with an access token',
  }),
  get('/clients', rpc(OnboardingDefinition, 'listClients'), {
    scope: 'partner',
    reads: 'list',
    answer_bytes: ({ limit = CLIENTS_DEFAULT }) => limit * CLIENT_BYTES,
    query: schemas.listClients,
    reply: ({ clients, total }, { query }) => ({
      clients: clients.map(clientRecord),
      total,
      limit: query.limit,
      offset: query.offset,
    }),
    docs: docs.listClients,
    summary: 'List registered numbers',
  }),
  del('/clients/:waba_id', rpc(OnboardingDefinition, 'deleteClient'), {
    scope: 'partner',
    reply: ({ events_removed_by }) => ({ events_removed_by }),
    docs: docs.deleteClient,
    summary: 'Delete a client',
  }),
  post('/clients/:waba_id/refresh', rpc(OnboardingDefinition, 'refreshClient'), {
    scope: 'partner',
    audit: { ids: { phone_number_id: 'phone_number_id' } },
    body: schemas.refreshClient,
    reply: (reply) => ({
      quality_rating: reply.quality_rating ?? null,
      throughput_level: reply.throughput_level ?? null,
      messaging_limit_tier: reply.messaging_limit_tier ?? null,
      token_updated: reply.token_updated,
    }),
    docs: docs.refreshClient,
    summary: 'Refresh a client, or replace its access token',
  }),
  post('/clients/:waba_id/resubscribe-webhook', rpc(OnboardingDefinition, 'resubscribeWebhook'), {
    scope: 'partner',
    docs: docs.resubscribeWebhook,
    summary: 'Resubscribe a business account to webhooks',
  }),
];
