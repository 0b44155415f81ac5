// The rows of the console's API: session, settings, webhooks, billing. They are not endpoints of the
// contract.
import { ApiError, missingFields } from '@bmg/common/errors';
import { firstKnown, isWellFormedKey, PARTNER_KEY_PREFIX, type Peppers } from '@bmg/common/keys';
import type { Client } from '@bmg/common/rpc';
import type { GetBillingResponse, PaymentsDefinition } from '@bmg/proto/billing';
import type { Session, SettingsDefinition } from '@bmg/proto/settings';
import type { SendTestEventResponse, WebhooksDefinition } from '@bmg/proto/webhooks';
import type { Recorder } from '../audit/recorder';
import type { HashRenewal } from '../auth/hash-renewal';
import type { RequestLog } from '../edge/request-log';
import type { Fields } from '../endpoints/endpoint';
import * as answers from './answers';
import type { EventStreams } from './event-streams';
import { recordLogIn } from './recorded';
import type { Route, RouteRequest } from './route';
import * as schemas from './schemas';
import type { SessionCookies } from './session-cookie';
import { settingsAnswer, textOf, type Threshold } from './settings-answer';

export interface RouteDependencies {
  settings: Client<SettingsDefinition>;
  webhooks: Client<WebhooksDefinition>;
  payments: Client<PaymentsDefinition>;
  requests: Pick<RequestLog, 'read'>;
  streams: Pick<EventStreams, 'open'>;
  cookies: SessionCookies;
  peppers: Peppers;
  renewal: HashRenewal;
  public_url: string;
  /** Records changes; without it, none are. */
  recorder?: Recorder | undefined;
  /** Announcements to partners, with their texts. */
  notices: Fields[];
}

/** The receiver has 10 seconds to answer a test event. */
const TEST_TIMEOUT_MS = 15_000;

export const createRoutes = (deps: RouteDependencies): Route[] => [
  ...sessionRoutes(deps),
  ...settingsRoutes(deps),
  ...webhookRoutes(deps),
  ...billingRoutes(deps),
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
  {
    verb: 'get',
    path: '/requests',
    answer: answers.requests,
    run: async ({ partner_id }) => ({ requests: await readRequests(deps.requests, partner_id) }),
  },
];

const readRequests = async (
  requests: RouteDependencies['requests'],
  partner_id: string,
): Promise<Fields[]> =>
  (await requests.read(partner_id)).map(({ at, ...request }) => ({
    at: new Date(at).toISOString(),
    ...request,
  }));

/** Opens a session for a partner key, and sets its cookie. */
const logIn =
  ({ settings, cookies, peppers, renewal, recorder }: RouteDependencies) =>
  async ({ context, call, body }: RouteRequest): Promise<{ session: Session; token: string }> => {
    const partner_key = String(body['partner_key']).trim();
    if (!isWellFormedKey(partner_key, PARTNER_KEY_PREFIX)) throw invalidKey();
    const token = cookies.newToken();
    const [token_hash] = cookies.hashes(token);
    const key_hashes = peppers.hashes(partner_key);
    const session = await firstKnown(key_hashes, async (key_hash) => {
      const opened = await settings.openSession({ key_hash, token_hash }, call);
      renewal.renew(key_hash, key_hashes[0]);
      return opened;
    });
    await recordLogIn(recorder, settings, { context, call, session, token_hash });
    cookies.set(context, token);
    return { session, token };
  };

function sessionRoutes(deps: RouteDependencies): Route[] {
  const { settings, cookies } = deps;
  const open = logIn(deps);
  const sessionAnswer = (session: Session, token: string): Fields => ({
    partner_id: session.partner_id,
    name: session.partner_name,
    expires_at: session.expires_at,
    csrf_token: cookies.csrfToken(token),
  });
  return [
    {
      verb: 'post',
      path: '/session',
      answer: answers.session,
      open: true,
      status: 201,
      body: schemas.openSession,
      async run(request) {
        const { session, token } = await open(request);
        return sessionAnswer(session, token);
      },
    },
    {
      verb: 'get',
      path: '/session',
      answer: answers.session,
      run: async ({ session, token }) => sessionAnswer(session, token),
    },
    {
      // For the page's start: a browser reports every 401 as an error.
      verb: 'get',
      path: '/session/current',
      answer: answers.current_session,
      absent: { session: null },
      run: async ({ session, token }) => ({ session: sessionAnswer(session, token) }),
    },
    {
      verb: 'delete',
      path: '/session',
      audit: {},
      answer: answers.nothing,
      async run({ token_hash }, { context, call }) {
        await settings.closeSession({ token_hash }, call);
        cookies.clear(context);
        return {};
      },
    },
    {
      verb: 'get',
      path: '/sessions',
      answer: answers.sessions,
      run: async ({ partner_id, token_hash }, { call }) => ({
        ...(await settings.listSessions({ partner_id, token_hash }, call)),
      }),
    },
    {
      verb: 'delete',
      path: '/sessions',
      audit: {},
      answer: answers.nothing,
      async run({ partner_id }, { context, call }) {
        await settings.closeAllSessions({ partner_id }, call);
        cookies.clear(context);
        return {};
      },
    },
  ];
}

const invalidKey = (): ApiError =>
  new ApiError('INVALID_PARTNER_KEY', 'the partner key is not valid');

const settingsRoutes = ({ settings, notices }: RouteDependencies): Route[] => [
  {
    verb: 'get',
    path: '/notices',
    answer: answers.notices,
    run: async () => ({ notices }),
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
    audit: { values: ['webhook_url', 'logo_url', 'alerts'], before_of: 'partner' },
    answer: answers.settings,
    body: schemas.updateSettings,
    async run({ partner_id }, { call, body }) {
      const { webhook_url, logo_url, alerts } = body as {
        webhook_url?: string | null;
        logo_url?: string | null;
        alerts?: Record<string, Threshold>;
      };
      if (webhook_url === undefined && logo_url === undefined && alerts === undefined) {
        throw missingFields(
          ['webhook_url', 'logo_url', 'alerts'],
          'webhook_url, logo_url or alerts is required',
        );
      }
      const change = {
        partner_id,
        webhook_url: webhook_url === undefined ? undefined : (webhook_url ?? ''),
        logo_url: logo_url === undefined ? undefined : (logo_url ?? ''),
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
      audit: {},
      answer: answers.revealed_secret,
      run: async ({ partner_id }, { call }) => ({
        ...(await settings.revealWebhookSecret({ partner_id }, call)),
      }),
    },
    {
      verb: 'post',
      path: '/webhook-secret/rotate',
      audit: { values: ['overlap_hours'] },
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
    answer: answers.billing,
    run: async ({ partner_id }, { call }) =>
      billingAnswer(await payments.getBilling({ partner_id }, call)),
  },
  {
    verb: 'post',
    path: '/card',
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
