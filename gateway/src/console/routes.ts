// The rows of the console's API: sessions, passkeys, settings, webhooks, billing and the
// request log. They are not endpoints of the contract.
import { isErrorCode } from '@bmg/common/errors';
import { EVENT_NAMES, TEST_EVENT } from '@bmg/common/messages';
import type { LoggedRequest } from '@bmg/proto/onboarding';
import { actionOf } from '../audit/audited';
import { refuseNoChange, withoutOverlap } from '../endpoints/parts/rows';
import { compile, type Static } from '../endpoints/parts/schema';
import { emptyIfNull, webhookChange } from '../endpoints/webhook-endpoints/rows';
import { ERROR_GUIDE } from '../error-guide';
import { EVENTS } from '../openapi/events';
import * as answers from './answers';
import { issuerRoutes } from './issuer-routes';
import { passkeyRoutes } from './passkey-routes';
import { get, paramOf, patch, post, type Route, type RouteDependencies } from './route';
import * as schemas from './schemas';
import { sessionRoutes } from './session-routes';
import { settingsAnswer, textOf } from './settings-answer';

/** The receiver has 10 seconds to answer a test event. */
const TEST_TIMEOUT_MS = 15_000;

export const createRoutes = (deps: RouteDependencies): Route[] => [
  ...sessionRoutes(deps),
  ...passkeyRoutes(deps),
  ...issuerRoutes(deps),
  ...settingsRoutes(deps),
  ...webhookRoutes(deps),
  ...billingRoutes(deps),
  ...requestRoutes(deps),
  get('/events/stream', answers.nothing, { automatic: true }, async (visitor, { context }) => {
    if (context.method !== 'HEAD') await deps.streams.open(context, visitor);
    return {};
  }),
];

/** Those whose values the audit log keeps. */
const RECORDED = ['webhook_url', 'logo_url', 'alerts', 'extra_events', 'connect_origins'];
/** The addresses of contacts are not kept: they are people's, and could not be erased. */
const SETTINGS = [...RECORDED, 'contacts'];

/** Those that a receiver can be sent; a test event reaches the tested one. */
const KNOWN_EVENTS = EVENT_NAMES.filter((event) => event !== TEST_EVENT).map((event) => ({
  event,
  summary: EVENTS[event].summary,
  extra: EVENTS[event].extra === true,
}));

const settingsRoutes = ({ settings, onboarding, notices }: RouteDependencies): Route[] => [
  get('/notices', answers.notices, { any_scope: true }, async () => ({ notices })),
  get('/known-events', answers.known_events, { any_scope: true }, async () => ({
    events: KNOWN_EVENTS,
  })),
  get('/numbers/:phone_number_id/days', answers.number_days, {}, ({ partner_id }, request) => {
    const phone_number_id = paramOf(request, 'phone_number_id');
    return settings.listNumberDays({ partner_id, phone_number_id }, request.call);
  }),
  get('/message-days', answers.message_days, {}, ({ partner_id }, { call }) =>
    onboarding.listMessageDays({ partner_id }, call),
  ),
  get('/settings', answers.settings, {}, async ({ partner_id }, { call }) =>
    settingsAnswer(await settings.getSettings({ partner_id }, call)),
  ),
  patch(
    '/settings',
    answers.settings,
    { audit: { values: RECORDED, before_of: 'partner' }, body: schemas.updateSettings },
    async ({ partner_id }, { call, body }) => {
      refuseNoChange(body, SETTINGS);
      const change = { partner_id, ...settingsChange(body) };
      return settingsAnswer(await settings.updateSettings(change, call));
    },
  ),
];

function settingsChange(body: Static<typeof schemas.updateSettings>) {
  const { logo_url, alerts, connect_origins, contacts } = body;
  return {
    ...webhookChange(body),
    logo_url: emptyIfNull(logo_url),
    connect_origins: connect_origins && { origins: [...connect_origins] },
    contacts: contacts && {
      technical: emptyIfNull(contacts.technical),
      billing: emptyIfNull(contacts.billing),
    },
    alerts: Object.fromEntries(
      Object.entries(alerts ?? {}).map(([cause, threshold]) => [cause, textOf(threshold)]),
    ),
  };
}

function webhookRoutes({ settings, webhooks, public_url }: RouteDependencies): Route[] {
  const changelog = `${public_url.replace(/\/+$/, '')}/changelog`;
  return [
    post(
      '/webhook-secret/reveal',
      answers.revealed_secret,
      { fresh_log_in: true, audit: {} },
      ({ partner_id }, { call }) => settings.revealWebhookSecret({ partner_id }, call),
    ),
    post(
      '/webhook-secret/rotate',
      answers.rotated_secret,
      {
        fresh_log_in: true,
        audit: { values: ['overlap_hours'], reduces_risk: withoutOverlap },
        body: schemas.rotateSecret,
        per_sec: 1,
      },
      ({ partner_id }, { call, body }) => {
        const overlap_hours = body['overlap_hours'] as number;
        return settings.rotateWebhookSecret({ partner_id, overlap_hours }, call);
      },
    ),
    post(
      '/webhook-test',
      answers.test_event,
      { timeout_ms: TEST_TIMEOUT_MS, per_sec: 1 },
      ({ partner_id }, { call }) => webhooks.sendTestEvent({ partner_id, changelog }, call),
    ),
  ];
}

const billingRoutes = ({ payments }: RouteDependencies): Route[] => [
  get('/billing', answers.billing, { key_scope: 'billing' }, async ({ partner_id }, { call }) => ({
    billing: await payments.getBilling({ partner_id }, call),
  })),
  post(
    '/card',
    answers.card_page,
    { key_scope: 'billing', audit: {}, body: schemas.openCardPage, status: 201, per_sec: 1 },
    ({ partner_id }, { call, body }) => {
      const return_url = body['return_url'] as string | undefined;
      return payments.createCardSession({ partner_id, return_url }, call);
    },
  ),
];

const FAILED = [4, 5];

const checkQuery = compile(schemas.listRequests, 'query');

/** The request log. */
const requestRoutes = ({ onboarding, endpoints }: RouteDependencies): Route[] => [
  get('/requests', answers.requests, {}, async ({ partner_id }, { context, call }) => {
    const { status, limit = 0, ...filter } = checkQuery(context.query);
    const status_classes = status === 'failed' ? FAILED : status ? [Number(status)] : [];
    const asked = { partner_id, status_classes, limit, ...filter };
    const { requests, after } = await onboarding.listRequests(asked, call);
    return { requests: requests.map(explained), after };
  }),
  get('/requests/endpoints', answers.request_endpoints, {}, async () => ({
    endpoints: endpoints.map(actionOf),
  })),
];

const explained = (request: LoggedRequest): object => ({
  ...request,
  ...(request.code !== undefined && isErrorCode(request.code) && ERROR_GUIDE[request.code]),
});
