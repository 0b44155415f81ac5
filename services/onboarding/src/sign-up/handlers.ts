// Connect sessions: the link that a partner gives to a client business, the hosted page behind it, and the
// log of what became of it.
import { invalidField } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { CONNECT_TOKEN_PREFIX, createKey, hashKey } from '@bmg/common/keys';
import type { Handlers } from '@bmg/common/rpc';
import type {
  DirectoryDefinition,
  OnboardingDefinition,
  OnboardingEvent,
  ReportConnectStepRequest,
} from '@bmg/proto/onboarding';
import { createAttempt, type AttemptDependencies, type Step } from './onboarding-log';
import { refuseUnlessActive } from '../partners/partner-status';
import { linkOver } from './register-from-code';
import { completableSince, isCompletable, OPENS_S, pageOutcome, purgeAt } from './connect-session';
import { signUpConfig, type SignUpSettings } from './dialog-config';
import type { OnboardingEventRecord } from '../store/onboarding-events';
import type { Partner, Partners } from '../store/partners';
import type { Session, Sessions } from '../store/connect-sessions';

export interface ConnectDependencies extends AttemptDependencies {
  sessions: Sessions;
  partners: Partners;
  settings: SignUpSettings & {
    KEY_PEPPER: string;
    PUBLIC_URL: string;
    UPSTREAM_API_VERSION: string;
  };
}

type ConnectHandlers = Pick<
  Handlers<OnboardingDefinition>,
  | 'createConnectSession'
  | 'openConnectPage'
  | 'reportConnectStep'
  | 'listOnboardingEvents'
  | 'getEmbeddedSignupConfig'
>;

const STATE_MAX = 255;
const EVENTS_DEFAULT = 50;
const EVENTS_MAX = 200;
/** What one link may add to the log, however often its page is loaded. */
const REPORTS_MAX = 100;

export const connectHandlers = (deps: ConnectDependencies): ConnectHandlers => {
  const { sessions, partners, settings, events, now } = deps;
  return {
    async createConnectSession({ partner_id, display_name, state }) {
      if (state !== undefined && [...state].length > STATE_MAX) {
        throw invalidField('state', `must not have more than ${STATE_MAX} characters`);
      }
      const token = createKey(CONNECT_TOKEN_PREFIX);
      const created_at = now();
      const session: Session = {
        _id: newId('cns', created_at.getTime()),
        partner_id,
        token_hash: hashKey(token, settings.KEY_PEPPER),
        status: 'created',
        state: state ?? null,
        display_name: display_name?.trim() ? display_name : null,
        exchange_id: null,
        reports: 0,
        created_at,
        purge_at: purgeAt({ created_at }),
      };
      await sessions.insert(session);
      await createAttempt(deps, partner_id, session).note('SESSION_CREATED');
      const base = settings.PUBLIC_URL.replace(/\/+$/, '');
      return { connect_url: `${base}/connect?token=${token}`, token, expires_in: OPENS_S };
    },
    async openConnectPage({ token_hash }) {
      const session = await sessions.findByToken(token_hash);
      const outcome = pageOutcome(session, now());
      if (!session || outcome !== 'open') return closedPage(outcome);
      const partner = await needPartner(partners, session.partner_id);
      const { app_id, config_id, extras } = signUpConfig(settings);
      await sessions.open(session);
      if (await sessions.countReport(session, REPORTS_MAX)) {
        await createAttempt(deps, session.partner_id, session).note('PAGE_OPENED');
      }
      return {
        outcome,
        app_id,
        config_id,
        extras,
        api_version: settings.UPSTREAM_API_VERSION,
        state: session.state ?? undefined,
        partner_name: partner.name,
      };
    },
    async reportConnectStep(request) {
      const report = reportOf(request);
      const session = await sessions.findByToken(request.token_hash);
      if (!session || !isCompletable(session, now())) throw linkOver();
      if (await sessions.countReport(session, REPORTS_MAX)) {
        await createAttempt(deps, session.partner_id, session).note(report.step, report.facts);
      }
      return {};
    },
    async listOnboardingEvents({ partner_id, limit }) {
      const found = await events.list(partner_id, Math.min(limit || EVENTS_DEFAULT, EVENTS_MAX));
      return { events: found.map(eventMessage) };
    },
    getEmbeddedSignupConfig: async () => signUpConfig(settings),
  };
};

const closedPage = (outcome: string) => ({
  outcome,
  app_id: '',
  config_id: '',
  extras: undefined,
  api_version: '',
  state: undefined,
  partner_name: '',
});

type Report = Pick<
  ReportConnectStepRequest,
  | 'current_step'
  | 'error_code'
  | 'error_message'
  | 'upstream_session_id'
  | 'waba_id'
  | 'phone_number_id'
>;

/** How each kind of report reads in the log: a step of ours unless the dialog named its own. */
const REPORTS: Record<string, { step: Step; error_code?: string; error_message?: string }> = {
  dialog_opened: { step: 'DIALOG_OPENED' },
  dialog_finished: { step: 'DIALOG_FINISHED' },
  dialog_cancelled: {
    step: 'DIALOG',
    error_code: 'DIALOG_CANCELLED',
    error_message: 'the person left the dialog',
  },
  dialog_failed: { step: 'DIALOG', error_code: 'DIALOG_FAILED' },
  page_failed: { step: 'PAGE', error_code: 'PAGE_FAILED' },
};

function reportOf({ kind, ...given }: ReportConnectStepRequest): { step: string; facts: Report } {
  const row = REPORTS[kind];
  if (!row) throw invalidField('kind', `must be one of ${Object.keys(REPORTS).join(', ')}`);
  const { current_step, upstream_session_id, waba_id, phone_number_id } = given;
  return {
    step: current_step ?? row.step,
    facts: {
      error_code: given.error_code ?? row.error_code,
      error_message: given.error_message ?? row.error_message,
      upstream_session_id,
      waba_id,
      phone_number_id,
    },
  };
}

const eventMessage = (event: OnboardingEventRecord): OnboardingEvent => ({
  state: event.state ?? undefined,
  current_step: event.current_step,
  error_code: event.error_code ?? undefined,
  error_message: event.error_message ?? undefined,
  upstream_session_id: event.upstream_session_id ?? undefined,
  waba_id: event.waba_id ?? undefined,
  phone_number_id: event.phone_number_id ?? undefined,
  created_at: event.created_at,
});

/** The connect token's half of the directory: it opens the completion of one onboarding, nothing else. */
export const sessionHandlers = ({
  sessions,
  partners,
  now,
}: ConnectDependencies): Pick<Handlers<DirectoryDefinition>, 'authenticateSession'> => ({
  async authenticateSession({ token_hash }) {
    const session = await sessions.findByToken(token_hash);
    if (!session || !isCompletable(session, now())) throw linkOver();
    const { _id, rate_limit_per_sec } = await needPartner(partners, session.partner_id);
    return { partner_id: _id, session_id: session._id, rate_limit_per_sec };
  },
});

/** The partner behind a link, while it may do business. */
async function needPartner(partners: Partners, partner_id: string): Promise<Partner> {
  const partner = await partners.find(partner_id);
  if (!partner) throw linkOver();
  refuseUnlessActive(partner.status);
  return partner;
}

/** For a key rotation: links that were given out under the old key stop working. */
export const deleteUnfinishedSessions =
  ({ sessions, now }: Pick<ConnectDependencies, 'sessions' | 'now'>) =>
  (partner_id: string): Promise<number> =>
    sessions.deleteUnfinished(partner_id, completableSince(now()));
