// RPC handlers of the sign-up: connect links, the hosted page behind them, and the onboarding log.
import { refuseUnlessActive } from '@bmg/common/directory';
import { ApiError, invalidField } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { CONNECT_TOKEN_PREFIX, createKey } from '@bmg/common/keys';
import type { Handlers } from '@bmg/common/rpc';
import {
  OnboardingEvent,
  type CreateConnectSessionRequest,
  type DirectoryDefinition,
  type OnboardingDefinition,
} from '@bmg/proto/onboarding';
import type { Session } from './store/connect-sessions';
import { createOnboardingLog } from '../onboarding-log';
import type { DueEvent } from '../../ground/due-events';
import { orNotFound } from '../../ground/insert';
import { messageOf } from '../../ground/message';
import { checkReturnUrl, refuseUnlessListed } from '../../ground/partner-url';
import { partnerOf, type Partner } from '../../ground/partners';
import { isCompletable, KEPT_S, OPENS_S, pageOutcome, purgeAt } from './connect-session';
import { signUpConfig } from './dialog-config';
import { readReport } from './page-report';
import { registerFromCode } from './register-from-code';
import { invalidLink } from './session-code';
import type { Dependencies } from '../../dependencies';

const STATE_MAX = 255;
const EVENTS_DEFAULT = 50;
const EVENTS_MAX = 200;
/** Bounds the entries of one link in the onboarding log, however often its page is loaded. */
const REPORTS_MAX = 100;
/** Only a registration knows which number a sign-up is for. */
const NO_NUMBER = { waba_id: null, phone_number_id: null };
const QUOTA_RETRY_AFTER_S = 3_600;

export const createConnectHandlers = (deps: Dependencies) => {
  const { sessions, settings, events, now } = deps;
  return {
    ...pageHandlers(deps),
    async createConnectSession(request) {
      const { partner_id, display_name, state, origin, key_id } = request;
      if (state !== undefined && [...state].length > STATE_MAX) {
        throw invalidField('state', `must not have more than ${STATE_MAX} characters`);
      }
      checkOrigin(origin);
      const urls = await checkPages(deps, request);
      await checkQuota(deps, partner_id);
      const token = createKey(CONNECT_TOKEN_PREFIX);
      const created_at = now();
      const session: Session = {
        _id: newId('cns', created_at.getTime()),
        partner_id,
        token_hash: deps.peppers.hash(token),
        status: 'created',
        state: state ?? null,
        display_name: display_name?.trim() ? display_name : null,
        origin: origin ?? null,
        ...urls,
        ...(key_id !== undefined && { key_id }),
        exchange_id: null,
        reports: 0,
        created_at,
        purge_at: purgeAt({ created_at }),
      };
      await sessions.insert(session);
      await createOnboardingLog(deps, partner_id, session).record('SESSION_CREATED');
      const base = settings.PUBLIC_URL.replace(/\/+$/, '');
      return { connect_url: `${base}/connect?token=${token}`, token, expires_in: OPENS_S };
    },
    async listOnboardingEvents({ partner_id, limit }) {
      const found = await events.list(partner_id, Math.min(limit || EVENTS_DEFAULT, EVENTS_MAX));
      return { events: found.map((event) => messageOf(OnboardingEvent, event)) };
    },
    getEmbeddedSignupConfig: async () => signUpConfig(settings),
    registerFromCode: registerFromCode(deps),
  } satisfies Partial<Handlers<OnboardingDefinition>>;
};

const pageHandlers = (deps: Dependencies) => {
  const { sessions, partnerLogos, settings, now } = deps;
  return {
    async openConnectPage({ token_hash }) {
      const session = await sessions.findByToken(token_hash);
      const outcome = pageOutcome(session, now());
      if (!session || outcome !== 'open') return closedPage(outcome, session);
      const partner = await activePartner(deps, session.partner_id);
      const { app_id, config_id, extras } = signUpConfig(settings);
      await sessions.open(session);
      if (await sessions.countReport(session, REPORTS_MAX)) {
        await createOnboardingLog(deps, session.partner_id, session).record('PAGE_OPENED');
      }
      return {
        outcome,
        app_id,
        config_id,
        extras,
        api_version: settings.UPSTREAM_API_VERSION,
        ...shownOf(session),
        success_url: session.success_url,
        failure_url: session.failure_url,
        partner_name: partner.name,
        logo_id: partner.logo?.id,
      };
    },
    async getLogo({ logo_id }) {
      const { type, data } = orNotFound(await partnerLogos.find(logo_id), 'logo');
      return { mime_type: type, data };
    },
    async reportConnectStep(request) {
      const { step, facts, failure } = readReport(request);
      const session = await sessions.findByToken(request.token_hash);
      if (!session || !isCompletable(session, now())) throw invalidLink();
      const at = now();
      const event: DueEvent | undefined =
        failure && session.status !== 'consumed'
          ? {
              event: 'client.failed',
              key: newId('rep', at.getTime()),
              at,
              data: { ...failure, ...NO_NUMBER },
            }
          : undefined;
      if (await sessions.countReport(session, REPORTS_MAX, event)) {
        await createOnboardingLog(deps, session.partner_id, session).record(step, facts);
        if (event) deps.onEventsDue();
      }
      return {};
    },
  } satisfies Partial<Handlers<OnboardingDefinition>>;
};

/** Browsers post messages to an origin: scheme, host and port, without a path. */
function checkOrigin(origin: string | undefined): void {
  if (origin === undefined) return;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin !== origin || !/^https?:$/.test(url.protocol)) {
    throw invalidField('origin', 'must be an origin such as https://shop.example.com');
  }
}

/** Checks the partner's pages against its list of origins; returns those to which ours may lead. */
async function checkPages(
  { partners, settings }: Dependencies,
  { partner_id, origin, success_url, failure_url }: CreateConnectSessionRequest,
): Promise<Pick<Session, 'success_url' | 'failure_url'>> {
  if ([origin, success_url, failure_url].every((given) => given === undefined)) return {};
  const { connect_origins: listed = [] } = await partnerOf(partners, partner_id);
  if (origin !== undefined) refuseUnlessListed('origin', origin, listed);
  const allowPrivate = settings.ALLOW_PRIVATE_URLS;
  return Object.fromEntries(
    Object.entries({ success_url, failure_url }).flatMap(([field, url]) =>
      url === undefined ? [] : [[field, checkReturnUrl(url, { field, allowPrivate, listed })]],
    ),
  );
}

/** Links that are created at the same time may exceed the quota by their number. */
async function checkQuota({ sessions, settings }: Dependencies, partner_id: string): Promise<void> {
  const limit = settings.CONNECT_SESSIONS_MAX;
  if ((await sessions.count(partner_id, limit)) < limit) return;
  throw new ApiError(
    'QUOTA_EXCEEDED',
    `${limit} connect sessions were created in the last ${KEPT_S / 3_600} hours, the most that a partner may have: create links when they are needed`,
    { retryable: true, retry_after_s: QUOTA_RETRY_AFTER_S, details: { limit } },
  );
}

/** The fields that the page needs to report the outcome of the sign-up to its opener. */
const shownOf = (session: Session | null) => ({
  state: session?.state ?? undefined,
  origin: session?.origin ?? undefined,
});

const closedPage = (outcome: string, session: Session | null) => ({
  outcome,
  app_id: '',
  config_id: '',
  api_version: '',
  ...shownOf(session),
  partner_name: '',
});

/** A connect token allows the completion of one onboarding and nothing else. */
export const createSessionHandlers = (deps: Dependencies) =>
  ({
    async authenticateSession({ token_hash }) {
      const session = await deps.sessions.findByToken(token_hash);
      if (!session || !isCompletable(session, deps.now())) throw invalidLink();
      const { _id, rate_limit_per_sec } = await activePartner(deps, session.partner_id);
      return { partner_id: _id, session_id: session._id, rate_limit_per_sec };
    },
  }) satisfies Partial<Handlers<DirectoryDefinition>>;

/** The partner that created the link. Throws the error of its status unless that is `active`. */
async function activePartner({ partners }: Dependencies, partner_id: string): Promise<Partner> {
  const partner = await partners.find(partner_id);
  if (!partner) throw invalidLink();
  refuseUnlessActive(partner.status);
  return partner;
}
