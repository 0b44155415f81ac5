// RPC handlers of the operator's command line: partners, their keys and secrets, and support's view
// of clients.
import { PARTNER_STATUSES } from '@bmg/common/directory';
import { invalidField, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { createKey, keyHint, PARTNER_KEY_PREFIX, type Peppers } from '@bmg/common/keys';
import type { Call, Handlers } from '@bmg/common/rpc';
import type {
  OperatorDefinition,
  Partner as PartnerMessage,
  SubscribeAppRequest,
  SubscribeAppResponse,
  UpdatePartnerRequest,
} from '@bmg/proto/onboarding';
import { clientMessage, restoreAccount, type RestoreDependencies } from '../connect/clients';
import { contactsChange, contactsMessage } from '../ground/contacts';
import { checkOverlap, HOUR_MS } from '../ground/overlap';
import { createPartnerChanges, type PartnerChangesDependencies } from '../accounts/partners';
import type { Rotation } from './keyring';
import type { DashboardSessions } from '../accounts/sessions';
import { createNotice } from '../ground/partner-notices';
import {
  activeWabas,
  noSuchPartner,
  partnerOf,
  type Partner,
  type PartnerChange,
} from '../ground/partners';
import type { Check } from './diagnose';

export interface OperatorDependencies extends PartnerChangesDependencies, RestoreDependencies {
  peppers: Peppers;
  settings: { RATE_LIMIT_PER_SEC: number; ALLOW_PRIVATE_URLS: boolean };
  dashboardSessions: DashboardSessions;
  /** Deletes the partner's unfinished connect sessions; returns how many. */
  deleteSessions(partner_id: string): Promise<number>;
  rotateKeyring(page: { after?: string | undefined; limit: number }): Promise<Rotation>;
  diagnose(): Promise<Check[]>;
  subscribeApp(request: SubscribeAppRequest, call: Call): Promise<SubscribeAppResponse>;
}

const NAME_MAX = 200;
const RATE_MAX = 100_000;
const PAGE_MAX = 500;

/** Longer than 70 lines: one short method for each RPC. */
export const createOperatorHandlers = (
  deps: OperatorDependencies,
): Handlers<OperatorDefinition> => {
  const { clients, partners, dashboardSessions, settings, now } = deps;
  const changes = createPartnerChanges(deps);

  return {
    async createPartner(request) {
      const name = checkName(request.name);
      const partner_id = newId('ptn');
      const partner_key = createKey(PARTNER_KEY_PREFIX);
      const secret = changes.newSecret(partner_id);
      const { webhook_url } = request;
      const at = now();
      await partners.insert({
        _id: partner_id,
        name,
        status: 'active',
        ...keyFields(partner_key),
        webhook_url: webhook_url ? changes.checkWebhookUrl(webhook_url) : null,
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
      const fields = checkUpdate(request);
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
      return { notice_id: notice.notice_id, contacts: contactsMessage(partner.contacts) };
    },
    async rotateKey({ partner_id, overlap_hours = 0 }) {
      checkOverlap(overlap_hours);
      const { key_hash } = await partnerOf(partners, partner_id);
      const partner_key = createKey(PARTNER_KEY_PREFIX);
      const expires_at = new Date(now().getTime() + overlap_hours * HOUR_MS);
      const previous_key = overlap_hours > 0 ? { key_hash, expires_at } : null;
      await changes.change(partner_id, { ...keyFields(partner_key), previous_key });
      await dashboardSessions.removeOf(partner_id);
      return { partner_key, sessions_deleted: await deps.deleteSessions(partner_id) };
    },
    rotateWebhookSecret: async ({ partner_id, overlap_hours }) => ({
      webhook_secret: await changes.rotateWebhookSecret(partner_id, overlap_hours),
    }),
    async listAllClients({ partner_id, limit, offset }) {
      if (partner_id !== undefined) await partnerOf(partners, partner_id);
      const found = await clients.listAll(partner_id, {
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
    rotateKeyring: (request) => deps.rotateKeyring(request),
    subscribeApp: deps.subscribeApp,
    diagnose: async () => ({ checks: await deps.diagnose() }),
  };

  function keyFields(partner_key: string): PartnerChange & Pick<Partner, 'key_hash' | 'key_hint'> {
    return {
      key_hash: deps.peppers.hash(partner_key),
      key_hint: keyHint(partner_key),
      renewed_from: null,
    };
  }

  /** The given fields, checked. An empty `webhook_url` removes it. */
  function checkUpdate(given: UpdatePartnerRequest): PartnerChange {
    const fields: PartnerChange = contactsChange(given.contacts);
    if (given.name !== undefined) fields.name = checkName(given.name);
    if (given.webhook_url !== undefined) {
      const { webhook_url } = given;
      fields.webhook_url = webhook_url === '' ? null : changes.checkWebhookUrl(webhook_url);
    }
    if (given.rate_limit_per_sec !== undefined) {
      fields.rate_limit_per_sec = checkRate(given.rate_limit_per_sec);
    }
    if (given.max_wabas !== undefined) fields.max_wabas = checkMaxWabas(given.max_wabas);
    if (given.status !== undefined) {
      const status = PARTNER_STATUSES.find((one) => one === given.status);
      if (!status) throw invalidField('status', `must be one of ${PARTNER_STATUSES.join(', ')}`);
      fields.status = status;
    }
    return fields;
  }
};

const partnerMessage = (partner: Partner): PartnerMessage => ({
  partner_id: partner._id,
  name: partner.name,
  status: partner.status,
  webhook_url: partner.webhook_url ?? undefined,
  logo_url: partner.logo?.url,
  contacts: contactsMessage(partner.contacts),
  rate_limit_per_sec: partner.rate_limit_per_sec,
  max_wabas: partner.max_wabas ?? undefined,
  key_hint: partner.key_hint,
  active_wabas: activeWabas(partner).length,
  created_at: partner.created_at,
  updated_at: partner.updated_at,
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
