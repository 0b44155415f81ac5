// What the operator's command line asks: partners, their keys and secrets, support's view of clients.
import { randomBytes } from 'node:crypto';
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { createKey, hashKey, keyHint, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import { checkUrl, UrlRefused } from '@bmg/common/outbound';
import { partnerVersionKey, wabaVersionKey, type Versions } from '@bmg/common/redis';
import { implement } from '@bmg/common/rpc';
import { OperatorDefinition, type Partner as PartnerMessage } from '@bmg/proto/onboarding';
import { clientMessage } from './client-message';
import type { DirectoryDependencies } from './directory';
import type { Rotation } from './keyring';
import { monthOf } from './slots';
import {
  webhookSecretIdentity,
  type Partner,
  type PartnerChange,
  type PartnerStatus,
  type WebhookSecret,
} from './store/partners';

export interface OperatorDependencies extends DirectoryDependencies {
  versions: Versions;
  settings: { KEY_PEPPER: string; RATE_LIMIT_PER_SEC: number; ALLOW_PRIVATE_URLS: boolean };
  /** Deletes the partner's unfinished connect sessions; answers how many. */
  deleteSessions(partner_id: string): Promise<number>;
  rotateKeyring(page: { after?: string | undefined; limit: number }): Promise<Rotation>;
  diagnose(): Promise<Array<{ name: string; ok: boolean; detail: string; advice: string }>>;
}

const STATUSES: readonly PartnerStatus[] = [
  'active',
  'suspended',
  'subscription_cancelled',
  'trial_expired',
];
const NAME_MAX = 200;
const RATE_MAX = 100_000;
const PAGE_MAX = 500;
const SECRET_BYTES = 32;
const SECRETS_MAX = 5;
const HOUR_MS = 3_600_000;

export const operator = (deps: OperatorDependencies) => {
  const { clients, partners, vault, versions, settings, now } = deps;

  const newSecret = (partner_id: string): { plain: string; stored: WebhookSecret } => {
    const created_at = now();
    const plain = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    const sealed = vault.seal(webhookSecretIdentity(partner_id, created_at), plain);
    return { plain, stored: { sealed, created_at, expires_at: null } };
  };
  const need = async (partner_id: string): Promise<Partner> => {
    const partner = await partners.find(partner_id);
    if (!partner) throw new ApiError('NOT_FOUND', `there is no partner ${partner_id}`);
    return partner;
  };
  const change = async (partner_id: string, fields: PartnerChange): Promise<Partner> => {
    const changed = await partners.change(partner_id, fields, now());
    if (!changed) throw new ApiError('NOT_FOUND', `there is no partner ${partner_id}`);
    await versions.bump([partnerVersionKey(partner_id)]);
    return changed;
  };
  const checkWebhookUrl = (url: string): string => {
    try {
      return checkUrl(url, { field: 'webhook_url', allowPrivate: settings.ALLOW_PRIVATE_URLS })
        .href;
    } catch (error) {
      if (error instanceof UrlRefused) {
        throw new ApiError('INVALID_FIELD', error.message, {
          details: { field: error.field, reason: error.reason },
        });
      }
      throw error;
    }
  };

  return implement(OperatorDefinition, {
    async createPartner(request) {
      const name = checkName(request.name);
      const partner_id = newId('ptn');
      const partner_key = createKey(PARTNER_KEY_PREFIX);
      const secret = newSecret(partner_id);
      const at = now();
      await partners.insert({
        _id: partner_id,
        name,
        status: 'active',
        key_hash: hashKey(partner_key, settings.KEY_PEPPER),
        key_hint: keyHint(partner_key),
        webhook_url: request.webhook_url ? checkWebhookUrl(request.webhook_url) : null,
        webhook_secrets: [secret.stored],
        rate_limit_per_sec: checkRate(request.rate_limit_per_sec ?? settings.RATE_LIMIT_PER_SEC),
        max_wabas: checkMaxWabas(request.max_wabas),
        wabas: [],
        created_at: at,
        updated_at: at,
      });
      return { partner_id, partner_key, webhook_secret: secret.plain };
    },
    async updatePartner({ partner_id, ...given }) {
      const fields: PartnerChange = {};
      if (given.name !== undefined) fields.name = checkName(given.name);
      if (given.webhook_url !== undefined) {
        fields.webhook_url = given.webhook_url === '' ? null : checkWebhookUrl(given.webhook_url);
      }
      if (given.rate_limit_per_sec !== undefined) {
        fields.rate_limit_per_sec = checkRate(given.rate_limit_per_sec);
      }
      if (given.max_wabas !== undefined) fields.max_wabas = checkMaxWabas(given.max_wabas);
      if (given.status !== undefined) {
        const status = STATUSES.find((one) => one === given.status);
        if (!status) throw invalidField('status', `must be one of ${STATUSES.join(', ')}`);
        fields.status = status;
      }
      return partnerMessage(await change(partner_id, fields));
    },
    async listPartners({ limit, after }) {
      const found = await partners.list(Math.min(limit || PAGE_MAX, PAGE_MAX), after);
      return { partners: found.map(partnerMessage) };
    },
    getPartner: async ({ partner_id }) => partnerMessage(await need(partner_id)),
    async rotateKey({ partner_id }) {
      await need(partner_id);
      const partner_key = createKey(PARTNER_KEY_PREFIX);
      await change(partner_id, {
        key_hash: hashKey(partner_key, settings.KEY_PEPPER),
        key_hint: keyHint(partner_key),
      });
      return { partner_key, sessions_deleted: await deps.deleteSessions(partner_id) };
    },
    async rotateWebhookSecret({ partner_id, overlap_hours }) {
      if (!Number.isInteger(overlap_hours) || overlap_hours < 0 || overlap_hours > 24 * 30) {
        throw invalidField('overlap_hours', 'must be a whole number from 0 to 720');
      }
      const partner = await need(partner_id);
      const secret = newSecret(partner_id);
      const expires_at = new Date(now().getTime() + overlap_hours * HOUR_MS);
      const kept = partner.webhook_secrets
        .map((old) => ({
          ...old,
          expires_at: old.expires_at && old.expires_at < expires_at ? old.expires_at : expires_at,
        }))
        .filter((old) => old.expires_at > now());
      const webhook_secrets = [secret.stored, ...kept].slice(0, SECRETS_MAX);
      await change(partner_id, { webhook_secrets });
      return { webhook_secret: secret.plain };
    },
    async listAllClients({ partner_id, limit, offset }) {
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
    async restoreClient(scope) {
      await need(scope.partner_id);
      const month = monthOf(now());
      if (!(await partners.reserveWaba(scope.partner_id, scope.waba_id, month))) {
        throw new ApiError(
          'WABA_LIMIT_REACHED',
          'the plan’s limit of business accounts is reached',
        );
      }
      const restored = await clients.restore(scope);
      if (!restored) {
        if ((await clients.activeOf(scope)).length === 0) {
          await partners.releaseWaba(scope.partner_id, scope.waba_id, month);
        }
        throw new ApiError('NOT_FOUND', 'there is no deleted client of this account to restore');
      }
      await versions.bump([partnerVersionKey(scope.partner_id), wabaVersionKey(scope.waba_id)]);
      return clientMessage(restored);
    },
    rotateKeyring: (page) => deps.rotateKeyring(page),
    diagnose: async () => ({ checks: await deps.diagnose() }),
  });
};

const partnerMessage = (partner: Partner): PartnerMessage => ({
  partner_id: partner._id,
  name: partner.name,
  status: partner.status,
  webhook_url: partner.webhook_url ?? undefined,
  rate_limit_per_sec: partner.rate_limit_per_sec,
  max_wabas: partner.max_wabas ?? undefined,
  key_hint: partner.key_hint,
  active_wabas: partner.wabas.length,
  created_at: partner.created_at,
  updated_at: partner.updated_at,
});

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw missingFields(['name']);
  if (trimmed.length > NAME_MAX)
    throw invalidField('name', `is longer than ${NAME_MAX} characters`);
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
