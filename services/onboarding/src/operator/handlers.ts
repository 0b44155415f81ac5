// RPC handlers of the operator's command line: partners, their keys and secrets, and support's view
// of clients.
import { PARTNER_STATUSES } from '@bmg/common/directory';
import { invalidField, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { createKey, keyHint, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import type { Handlers } from '@bmg/common/rpc';
import {
  type OperatorDefinition,
  Partner as PartnerMessage,
  type UpdatePartnerRequest,
} from '@bmg/proto/onboarding';
import { PartnerContacts } from '@bmg/proto/settings';
import { clientMessage, restoreAccount } from '../connect/clients';
import { contactsChange } from '../ground/contacts';
import { checkOverlap, HOUR_MS } from '../ground/webhook-secret';
import { checkWebhookUrl, createPartnerChanges } from '../accounts/partners';
import { subscribeApp } from './app-subscription';
import { messageOf } from '../ground/message';
import { createNotice } from '../ground/partner-notices';
import { checkOneOf } from '../ground/texts';
import {
  activeWabas,
  noSuchPartner,
  partnerOf,
  type Partner,
  type PartnerChange,
} from '../ground/partners';
import { diagnose } from './diagnose';
import { rotateKeyring } from './keyring';
import type { Config } from '../config';
import type { Dependencies } from '../dependencies';

const NAME_MAX = 200;
const RATE_MAX = 100_000;
const PAGE_MAX = 500;

export const createOperatorHandlers = (deps: Dependencies): Handlers<OperatorDefinition> => {
  const { partners, dashboardSessions, sessions, settings, now } = deps;
  const changes = createPartnerChanges(deps);

  return {
    ...supportHandlers(deps),
    async createPartner(request) {
      const name = checkName(request.name);
      const partner_id = newId('ptn');
      const partner_key = createKey(PARTNER_KEY_PREFIX);
      const secret = changes.newSecret(partner_id);
      const at = now();
      await partners.insert({
        _id: partner_id,
        name,
        status: 'active',
        ...keyFields(deps, partner_key),
        webhook_url: checkWebhookUrl(request.webhook_url ?? '', settings),
        webhook_secrets: [secret.stored],
        rate_limit_per_sec: checkRate(request.rate_limit_per_sec ?? settings.RATE_LIMIT_PER_SEC),
        max_wabas: checkMaxWabas(request.max_wabas),
        wabas: [],
        created_at: at,
        updated_at: at,
      });
      return { partner_id, partner_key, webhook_secret: secret.plain };
    },
    async updatePartner(request) {
      const { partner_id } = request;
      const fields = checkUpdate(request, settings);
      if (request.logo_url !== undefined) {
        fields.logo = await changes.setLogo(partner_id, request.logo_url);
      }
      const changed = await changes.change(partner_id, fields);
      // Open console sessions end for good: they do not come back when the partner is active
      // again.
      if (changed.status !== 'active') await dashboardSessions.removeOf(partner_id);
      return partnerMessage(changed);
    },
    async listPartners({ limit, after }) {
      const found = await partners.list(Math.min(limit || PAGE_MAX, PAGE_MAX), after);
      return { partners: found.map(partnerMessage) };
    },
    getPartner: async ({ partner_id }) => partnerMessage(await partnerOf(partners, partner_id)),
    async notifyPartner({ partner_id, ...given }) {
      const notice = createNotice(given, now());
      const partner = await partners.addNotice(partner_id, notice);
      if (!partner) throw noSuchPartner(partner_id);
      deps.onEventsDue();
      return {
        notice_id: notice.notice_id,
        contacts: messageOf(PartnerContacts, partner.contacts ?? {}),
      };
    },
    async rotateKey({ partner_id, overlap_hours = 0 }) {
      checkOverlap(overlap_hours);
      const { key_hash } = await partnerOf(partners, partner_id);
      const partner_key = createKey(PARTNER_KEY_PREFIX);
      const expires_at = new Date(now().getTime() + overlap_hours * HOUR_MS);
      const previous_key = overlap_hours > 0 ? { key_hash, expires_at } : null;
      await changes.change(partner_id, { ...keyFields(deps, partner_key), previous_key });
      await dashboardSessions.removeOf(partner_id);
      const sessions_deleted = await sessions.deleteUnfinished(partner_id, now());
      return { partner_key, sessions_deleted };
    },
    rotateWebhookSecret: async ({ partner_id, overlap_hours }) => ({
      webhook_secret: await changes.rotateWebhookSecret(partner_id, overlap_hours),
    }),
  };
};

const supportHandlers = (deps: Dependencies) => {
  const { clients, partners } = deps;
  return {
    async listAllClients({ partner_id, limit, offset }) {
      if (partner_id !== undefined) await partnerOf(partners, partner_id);
      const found = await clients.list(partner_id, 'all', {
        limit: Math.min(limit || PAGE_MAX, PAGE_MAX),
        offset,
      });
      return {
        clients: found.clients.map((client) => ({
          ...clientMessage(client),
          partner_id: client.partner_id,
        })),
        total: found.total,
      };
    },
    async restoreClient(request, call) {
      const [first] = await restoreAccount(deps, request, call);
      return clientMessage(first);
    },
    rotateKeyring: (request) => rotateKeyring(deps, request),
    subscribeApp: (request, call) => subscribeApp(deps, request, call),
    diagnose: async () => ({ checks: await diagnose(deps) }),
  } satisfies Partial<Handlers<OperatorDefinition>>;
};

const keyFields = ({ peppers }: Dependencies, partner_key: string) => ({
  key_hash: peppers.hash(partner_key),
  key_hint: keyHint(partner_key),
  renewed_from: null,
});

/** The given fields, checked. */
const checkUpdate = (given: UpdatePartnerRequest, settings: Config): PartnerChange => ({
  ...contactsChange(given.contacts),
  ...(given.name !== undefined && { name: checkName(given.name) }),
  ...(given.webhook_url !== undefined && {
    webhook_url: checkWebhookUrl(given.webhook_url, settings),
  }),
  ...(given.rate_limit_per_sec !== undefined && {
    rate_limit_per_sec: checkRate(given.rate_limit_per_sec),
  }),
  ...(given.max_wabas !== undefined && { max_wabas: checkMaxWabas(given.max_wabas) }),
  ...(given.status !== undefined && {
    status: checkOneOf('status', given.status, PARTNER_STATUSES),
  }),
});

const partnerMessage = (partner: Partner): PartnerMessage =>
  messageOf(PartnerMessage, {
    ...partner,
    partner_id: partner._id,
    logo_url: partner.logo?.url,
    contacts: partner.contacts ?? {},
    active_wabas: activeWabas(partner).length,
  });

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw missingFields(['name']);
  if (trimmed.length > NAME_MAX) {
    throw invalidField('name', `is longer than ${NAME_MAX} characters`);
  }
  return trimmed;
}

function checkRate(rate: number): number {
  if (Number.isInteger(rate) && rate >= 1 && rate <= RATE_MAX) return rate;
  throw invalidField('rate_limit_per_sec', `must be a whole number from 1 to ${RATE_MAX}`);
}

function checkMaxWabas(max_wabas: number | undefined): number | null {
  if (max_wabas === undefined) return null;
  if (Number.isInteger(max_wabas) && max_wabas >= 0) return max_wabas;
  throw invalidField('max_wabas', 'must be a whole number, 0 or more');
}
