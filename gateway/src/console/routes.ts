// The rows of the console's API: sessions, passkeys, settings, webhooks, billing. They are not
// endpoints of the contract.
import { missingFields } from '@bmg/common/errors';
import type { GetBillingResponse } from '@bmg/proto/billing';
import type { SendTestEventResponse } from '@bmg/proto/webhooks';
import type { Fields } from '../endpoints/endpoint';
import { withoutOverlap } from '../endpoints/parts/rows';
import { webhookChange } from '../endpoints/webhook-endpoints/rows';
import { EVENT_NAMES } from '../endpoints/webhook-endpoints/schemas';
import { EVENTS, TEST_EVENT } from '../openapi/events';
import * as answers from './answers';
import { issuerRoutes } from './issuer-routes';
import { passkeyRoutes } from './passkey-routes';
import { requestRoutes } from './request-routes';
import type { Route, RouteDependencies } from './route';
import * as schemas from './schemas';
import { sessionRoutes } from './session-routes';
import { settingsAnswer, textOf, type Threshold } from './settings-answer';

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
  {
    verb: 'get',
    path: '/events/stream',
    answer: answers.nothing,
    automatic: true,
    async run(visitor, { context }) {
      if (context.method !== 'HEAD') await deps.streams.open(context, visitor);
      return {};
    },
  },
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
  {
    verb: 'get',
    path: '/notices',
    any_scope: true,
    answer: answers.notices,
    run: async () => ({ notices }),
  },
  {
    verb: 'get',
    path: '/known-events',
    any_scope: true,
    answer: answers.known_events,
    run: async () => ({ events: KNOWN_EVENTS }),
  },
  {
    verb: 'get',
    path: '/numbers/:phone_number_id/days',
    answer: answers.number_days,
    run: async ({ partner_id }, { context, call }) => {
      const { phone_number_id = '' } = context['params'] as Record<string, string>;
      const { days } = await settings.listNumberDays({ partner_id, phone_number_id }, call);
      return {
        days: days.map(({ day, quality_rating, messaging_limit_tier }) => ({
          day,
          quality_rating: quality_rating ?? null,
          messaging_limit_tier: messaging_limit_tier ?? null,
        })),
      };
    },
  },
  {
    verb: 'get',
    path: '/message-days',
    answer: answers.message_days,
    run: async ({ partner_id }, { call }) => ({
      ...(await onboarding.listMessageDays({ partner_id }, call)),
    }),
  },
  {
    verb: 'get',
    path: '/settings',
    answer: answers.settings,
    run: async ({ partner_id }, { call }) =>
      settingsAnswer(await settings.getSettings({ partner_id }, call)),
  },
  {
    verb: 'patch',
    path: '/settings',
    audit: { values: RECORDED, before_of: 'partner' },
    answer: answers.settings,
    body: schemas.updateSettings,
    async run({ partner_id }, { call, body }) {
      const { webhook_url, logo_url, alerts, extra_events, connect_origins, contacts } = body as {
        webhook_url?: string | null;
        logo_url?: string | null;
        alerts?: Record<string, Threshold>;
        extra_events?: string[];
        connect_origins?: string[];
        contacts?: { technical?: string | null; billing?: string | null };
      };
      if (SETTINGS.every((name) => body[name] === undefined)) {
        throw missingFields(SETTINGS, `one of ${SETTINGS.join(', ')} is required`);
      }
      const change = {
        partner_id,
        ...webhookChange({ webhook_url, extra_events }),
        logo_url: logo_url === null ? '' : logo_url,
        connect_origins: connect_origins && { origins: connect_origins },
        contacts: contacts && {
          technical: contacts.technical === null ? '' : contacts.technical,
          billing: contacts.billing === null ? '' : contacts.billing,
        },
        alerts: Object.fromEntries(
          Object.entries(alerts ?? {}).map(([cause, threshold]) => [cause, textOf(threshold)]),
        ),
      };
      return settingsAnswer(await settings.updateSettings(change, call));
    },
  },
];

function webhookRoutes({ settings, webhooks, public_url }: RouteDependencies): Route[] {
  const changelog = `${public_url.replace(/\/+$/, '')}/changelog`;
  return [
    {
      verb: 'post',
      path: '/webhook-secret/reveal',
      fresh_log_in: true,
      audit: {},
      answer: answers.revealed_secret,
      run: async ({ partner_id }, { call }) => ({
        ...(await settings.revealWebhookSecret({ partner_id }, call)),
      }),
    },
    {
      verb: 'post',
      path: '/webhook-secret/rotate',
      fresh_log_in: true,
      audit: { values: ['overlap_hours'], reduces_risk: withoutOverlap },
      answer: answers.rotated_secret,
      body: schemas.rotateSecret,
      per_sec: 1,
      run: async ({ partner_id }, { call, body }) => ({
        ...(await settings.rotateWebhookSecret(
          { partner_id, overlap_hours: body['overlap_hours'] as number },
          call,
        )),
      }),
    },
    {
      verb: 'post',
      path: '/webhook-test',
      answer: answers.test_event,
      timeout_ms: TEST_TIMEOUT_MS,
      per_sec: 1,
      run: async ({ partner_id }, { call }) =>
        testAnswer(await webhooks.sendTestEvent({ partner_id, changelog }, call)),
    },
  ];
}

const testAnswer = (sent: SendTestEventResponse): Fields => ({
  ...sent,
  http_status: sent.http_status ?? null,
  error: sent.error ?? null,
});

const billingRoutes = ({ payments }: RouteDependencies): Route[] => [
  {
    verb: 'get',
    path: '/billing',
    key_scope: 'billing',
    answer: answers.billing,
    run: async ({ partner_id }, { call }) =>
      billingAnswer(await payments.getBilling({ partner_id }, call)),
  },
  {
    verb: 'post',
    path: '/card',
    key_scope: 'billing',
    audit: {},
    answer: answers.card_page,
    body: schemas.openCardPage,
    status: 201,
    per_sec: 1,
    run: async ({ partner_id }, { call, body }) => ({
      ...(await payments.createCardSession(
        { partner_id, return_url: body['return_url'] as string | undefined },
        call,
      )),
    }),
  },
];

const billingAnswer = ({ card, invoices, ...billing }: GetBillingResponse): Fields => ({
  billing: {
    ...billing,
    card: card ?? null,
    invoices: invoices.map((invoice) => ({
      ...invoice,
      covers: invoice.covers ?? null,
      payment_url: invoice.payment_url ?? null,
      paid_at: invoice.paid_at ?? null,
    })),
  },
});
