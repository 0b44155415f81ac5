// RPC handlers of the partner's console: its sessions and the partner's profile settings. The
// gateway checks that a request comes from the partner's browser; which partner a session is for,
// and how long, is decided here.
import { refuseUnlessActive } from '@bmg/common/directory';
import { ApiError, invalidField } from '@bmg/common/errors';
import { isExtraEvent } from '@bmg/common/messages';
import type { Handlers } from '@bmg/common/rpc';
import {
  ListNumberDaysResponse_NumberDay as NumberDay,
  ListSessionsResponse_OpenSession as OpenSession,
  PartnerSettings,
  type SettingsDefinition,
} from '@bmg/proto/settings';
import { changeThresholds, type PartnerAlert } from '../alerts';
import {
  type DashboardSession,
  expiresAt,
  isAlive,
  isToBeTouched,
  newSession,
  sessionMessage,
} from '../sessions';
import { checkWebhookUrl, createPartnerChanges } from './changes';
import { contactsChange } from '../../ground/contacts';
import { noSuch } from '../../ground/insert';
import { messageOf } from '../../ground/message';
import { billOf, monthOf } from '../../ground/slots';
import { currentNotices } from '../../ground/partner-notices';
import { activeWabas, partnerOf, webhookSecretIdentity, type Partner } from '../../ground/partners';
import type { People, Person } from '../../ground/people';
import type { Dependencies } from '../../dependencies';
import { checkConnectOrigins } from '../../ground/partner-url';

/** The newest alerts, for the console's overview. */
const ALERTS_SHOWN_MAX = 50;
/** Bounds a number's history, for the console's picture of it. */
const NUMBER_DAYS_MAX = 90;

export const createDashboardHandlers = (deps: Dependencies): Handlers<SettingsDefinition> => {
  const { partners, numberDays, partnerAlerts, settings, vault, now, log } = deps;
  const changes = createPartnerChanges(deps);
  const answer = async (partner: Partner): Promise<PartnerSettings> =>
    settingsMessage(partner, await partnerAlerts.of(partner._id, ALERTS_SHOWN_MAX), now());

  return {
    ...sessionHandlers(deps),
    async listNumberDays(request) {
      const days = await numberDays.latestOf(request, NUMBER_DAYS_MAX);
      return { days: days.map((day) => messageOf(NumberDay, day)) };
    },
    getSettings: async ({ partner_id }) => answer(await partnerOf(partners, partner_id)),
    async updateSettings(request) {
      const { partner_id, webhook_url, alerts, logo_url, extra_events, connect_origins } = request;
      const before = await partnerOf(partners, partner_id);
      const is_address = webhook_url !== undefined;
      const is_alerts = Object.keys(alerts).length > 0;
      // All are checked before any is changed.
      const changed = {
        ...(extra_events && { extra_events: checkExtraEvents(extra_events.names) }),
        ...(connect_origins && {
          connect_origins: checkConnectOrigins(
            connect_origins.origins,
            settings.ALLOW_PRIVATE_URLS,
          ),
        }),
        ...(is_address && { webhook_url: checkWebhookUrl(webhook_url, settings) }),
        ...(is_alerts && { alerts: changeThresholds(before.alerts ?? {}, alerts) }),
        ...contactsChange(request.contacts),
      };
      const is_logo = logo_url !== undefined;
      if (Object.keys(changed).length === 0 && !is_logo) return answer(before);
      const after = await changes.change(partner_id, {
        ...changed,
        ...(is_logo && { logo: await changes.setLogo(partner_id, logo_url) }),
      });
      // The address is not logged: it may contain a secret.
      if (is_address) {
        const set = after.webhook_url !== null;
        log.info({ partner_id, set }, 'partner changed its webhook address');
      }
      if (is_alerts) {
        log.info({ partner_id, alerts: after.alerts }, 'partner changed its alerts');
      }
      return answer(after);
    },
    async revealWebhookSecret({ partner_id }) {
      const [newest] = (await partnerOf(partners, partner_id)).webhook_secrets;
      if (!newest)
        throw new ApiError('NOT_FOUND', 'there is no webhook secret yet: rotate it to create one');
      const { sealed, created_at } = newest;
      log.info({ partner_id }, 'revealed webhook secret to its partner');
      return {
        webhook_secret: vault.open(webhookSecretIdentity(partner_id, created_at), sealed),
        created_at,
      };
    },
    async rotateWebhookSecret({ partner_id, overlap_hours }) {
      const webhook_secret = await changes.rotateWebhookSecret(partner_id, overlap_hours);
      log.info({ partner_id, overlap_hours }, 'partner rotated its webhook secret');
      return { webhook_secret };
    },
  };
};

const sessionHandlers = (deps: Dependencies) => {
  const { partners, people, dashboardSessions, now, log } = deps;
  return {
    async openSession({ key_hash, token_hash }) {
      const partner = await partners.findByKeyHash(key_hash);
      if (!partner) throw await notAPartnerKey(deps, key_hash);
      refuseUnlessActive(partner.status);
      const session = newSession({ partner_id: partner._id, key_hash }, token_hash, now());
      await dashboardSessions.insert(session);
      log.info({ partner_id: partner._id }, 'opened console session');
      return sessionMessage(partner, session, undefined);
    },
    async useSession({ token_hash, passive, people: enforces_roles }) {
      const session = await dashboardSessions.find(token_hash);
      if (!session || (session.person_id !== undefined && !enforces_roles)) throw sessionOver();
      const partner = await partners.find(session.partner_id);
      const person = await personOf(people, session);
      const at = now();
      // An ended session is deleted, so that it stays ended whatever happens to the partner.
      if (!partner || !isOpenedBy(session, partner, person) || !isAlive(session, at)) {
        await dashboardSessions.remove(token_hash);
        throw sessionOver();
      }
      if (partner.status !== 'active') {
        await dashboardSessions.remove(token_hash);
        refuseUnlessActive(partner.status);
      }
      if (!passive && isToBeTouched(session, at)) await dashboardSessions.touch(token_hash, at);
      return sessionMessage(partner, session, person);
    },
    async closeSession({ token_hash }) {
      await dashboardSessions.remove(token_hash);
      return {};
    },
    async listSessions({ partner_id, token_hash, person_id }) {
      const at = now();
      const [sessions, persons] = await Promise.all([
        dashboardSessions.newestOf(partner_id, person_id),
        people.of(partner_id),
      ]);
      const emails = new Map(persons.map((person) => [person.person_id, person.email]));
      return {
        sessions: sessions
          .filter((session) => isAlive(session, at))
          .map((session) =>
            messageOf(OpenSession, {
              ...session,
              expires_at: expiresAt(session),
              current: session._id === token_hash,
              email: emails.get(session.person_id ?? ''),
            }),
          ),
      };
    },
    async closeAllSessions({ partner_id, person_id }) {
      await dashboardSessions.removeOf(partner_id, person_id);
      log.info({ partner_id, person_id }, 'closed all console sessions');
      return {};
    },
    async endSession({ partner_id, session_id, person_id }) {
      const is_ended = await dashboardSessions.removeNamed(partner_id, session_id, person_id);
      if (!is_ended) throw noSuch('session');
      log.info({ partner_id, session_id }, 'ended a console session');
      return {};
    },
  } satisfies Partial<Handlers<SettingsDefinition>>;
};

/** True for the hash of the partner's key, also for that before its renewal. */
const isKeyOf = ({ key_hash, renewed_from }: Partner, opened_with: string): boolean =>
  opened_with === key_hash || opened_with === renewed_from;

const personOf = async (
  people: Pick<People, 'find'>,
  { partner_id, person_id }: DashboardSession,
): Promise<Person | undefined> =>
  person_id === undefined ? undefined : people.find(partner_id, person_id);

/** False once the key was rotated, or the person was removed. */
function isOpenedBy(
  { key_hash, person_id }: DashboardSession,
  partner: Partner,
  person: Person | undefined,
): boolean {
  if (person_id !== undefined) return person?.state === 'active';
  return key_hash !== undefined && isKeyOf(partner, key_hash);
}

/** A session has all rights of the partner, so that no API key opens one. */
async function notAPartnerKey({ partnerKeys }: Dependencies, key_hash: string): Promise<ApiError> {
  const [key] = await partnerKeys.findByHashes([key_hash]);
  return key
    ? new ApiError('KEY_RESTRICTED', 'an API key does not open the console: use the partner key')
    : new ApiError('INVALID_PARTNER_KEY', 'the partner key is not valid');
}

/** Each name once. Prefixes are for endpoints. */
function checkExtraEvents(names: string[]): string[] {
  const unknown = names.findIndex((name) => !isExtraEvent(name));
  if (unknown >= 0) {
    throw invalidField(
      `extra_events[${unknown}]`,
      'is not an extra event: the webhook URL gets all events of the contract anyway',
    );
  }
  return [...new Set(names)];
}

const sessionOver = (): ApiError =>
  new ApiError('UNAUTHORIZED', 'the session has ended: log in again');

function settingsMessage(
  partner: Partner,
  raised_alerts: PartnerAlert[],
  now: Date,
): PartnerSettings {
  const { extra_events, connect_origins, alerts, logo, max_wabas, months = {} } = partner;
  const [newest, previous] = partner.webhook_secrets;
  const overlap = previous?.expires_at && previous.expires_at > now ? previous.expires_at : null;
  const active_wabas = activeWabas(partner).length;
  return messageOf(PartnerSettings, {
    ...partner,
    partner_id: partner._id,
    extra_events,
    connect_origins,
    plan: { max_wabas, active_wabas, slots: billOf(months, monthOf(now)).slots },
    alerts,
    raised_alerts,
    logo_url: logo?.url,
    logo_id: logo?.id,
    contacts: partner.contacts ?? {},
    notices: currentNotices(partner.notices, now),
    webhook_secret: newest && { created_at: newest.created_at, previous_expires_at: overlap },
  });
}
