// RPC handlers of the directory: authentication of callers, the number a call is for, its
// credential, and the partners that own a number. Other services cache these answers under the
// directory version.
import { groupBy } from '@bmg/common/collections';
import { ApiError } from '@bmg/common/errors';
import type { Handlers } from '@bmg/common/rpc';
import type {
  AuthenticateResponse,
  DirectoryDefinition,
  GetCredentialResponse,
  ResolveTargetRequest,
} from '@bmg/proto/onboarding';
import type { Vault } from '@bmg/common/vault';
import {
  clientId,
  LISTED_NUMBERS_MAX,
  secretIdentity,
  type Client,
  type Clients,
} from '../store/clients';
import { webhookSecretIdentity, type Partner, type Partners } from '../store/partners';
import { receivingClients } from './receiving';
import { chooseNumber, notRegistered } from './target';

export interface DirectoryDependencies {
  clients: Clients;
  partners: Partners;
  vault: Vault;
  now: () => Date;
}

/** All of the directory but `authenticateSession`, which belongs to the sign-up. */
export type DirectoryHandlers = Omit<Handlers<DirectoryDefinition>, 'authenticateSession'>;

/** Longer than 70 lines: one short method for each RPC. */
export const createDirectoryHandlers = (deps: DirectoryDependencies): DirectoryHandlers => {
  const { clients, partners, vault, now } = deps;
  const receiverOf = ({ _id, webhook_url, webhook_secrets, status }: Partner) => {
    const valid = webhook_secrets.filter(
      ({ expires_at }) => expires_at === null || expires_at > now(),
    );
    return {
      webhook_url: webhook_url ?? undefined,
      webhook_secrets: valid.map(({ sealed, created_at }) =>
        vault.open(webhookSecretIdentity(_id, created_at), sealed),
      ),
      status,
    };
  };
  const credentialOf = (client: Client): GetCredentialResponse => ({
    access_token: vault.open(secretIdentity(client, 'token'), client.token),
    sending: sendingState(client),
    payment_url: client.payment_url ?? undefined,
    phone_number: client.phone_number,
    is_on_biz_app: client.is_on_biz_app,
    throughput_level: client.throughput_level ?? undefined,
    business_id: client.business_id ?? undefined,
    messaging_limit_tier: client.messaging_limit_tier ?? undefined,
    registered_at: client.registered_at,
  });
  return {
    async authenticate({ key_hash }) {
      const partner =
        (await partners.findByKeyHash(key_hash)) ??
        (await partners.findByPreviousKey(key_hash, now()));
      if (!partner) throw new ApiError('INVALID_PARTNER_KEY', 'x-partner-key is not a valid key');
      return callerOf(partner);
    },
    async authenticateMany({ key_hashes }) {
      refuseTooMany('key_hashes', key_hashes);
      const asked = new Set(key_hashes);
      const callers: Record<string, AuthenticateResponse> = {};
      for (const partner of await partners.findByKeyHashes(key_hashes)) {
        for (const key_hash of validKeys(partner, now())) {
          if (asked.has(key_hash)) callers[key_hash] = callerOf(partner);
        }
      }
      return { callers };
    },
    async resolveTarget({ partner_id, waba_id, phone_number_id }) {
      const active = await clients.activeOf({ partner_id, waba_id });
      return { phone_number_id: chooseNumber(active, phone_number_id).phone_number_id };
    },
    async resolveTargets({ targets }) {
      refuseTooMany('targets', targets);
      const accounts = new Set(targets.map(({ waba_id }) => waba_id));
      const found = await clients.activeOfAccounts([...accounts]);
      const active = groupBy(found, (client) => `${client.partner_id}/${client.waba_id}`);
      const resolve = ({ partner_id, waba_id, phone_number_id }: ResolveTargetRequest): string => {
        try {
          const rows = active.get(`${partner_id}/${waba_id}`) ?? [];
          return chooseNumber(rows, phone_number_id).phone_number_id;
        } catch (error) {
          if (error instanceof ApiError) return '';
          throw error;
        }
      };
      return { phone_number_ids: targets.map(resolve) };
    },
    async getCredential(scope) {
      const client = await clients.find(scope);
      if (!client || client.status !== 'active') throw notRegistered();
      return credentialOf(client);
    },
    async getCredentials({ scopes }) {
      refuseTooMany('scopes', scopes);
      const rows = new Map((await clients.findAll(scopes)).map((row) => [row._id, row]));
      const found = scopes.map((scope) => {
        const client = rows.get(clientId(scope));
        return { credential: client?.status === 'active' ? credentialOf(client) : undefined };
      });
      return { found };
    },
    async getOwners({ waba_id, phone_number_id, display_phone_number, all_active }) {
      const found =
        phone_number_id !== undefined
          ? await clients.ownersOfNumber(phone_number_id, waba_id || undefined)
          : display_phone_number !== undefined
            ? await clients.ownersOfDisplayNumber(waba_id, display_phone_number)
            : await clients.ownersOfAccount(waba_id);
      const rows = all_active ? found : receivingClients(found, now());
      return {
        ...ownersOf(rows),
        phone_number_id:
          display_phone_number === undefined ? phone_number_id : rows[0]?.phone_number_id,
      };
    },
    async getOwnersOfNumbers({ numbers }) {
      refuseTooMany('numbers', numbers);
      const ids = [...new Set(numbers.map(({ phone_number_id }) => phone_number_id))];
      const found = await clients.ownersOfNumbers(ids);
      const rowsOf = groupBy(found, (client) => client.phone_number_id);
      const owners = numbers.map(({ phone_number_id, waba_id }) => {
        const rows = rowsOf.get(phone_number_id) ?? [];
        const ofAccount = rows.filter((row) => waba_id === '' || row.waba_id === waba_id);
        return { ...ownersOf(receivingClients(ofAccount, now())), phone_number_id };
      });
      return { owners };
    },
    async listNumbers(scope) {
      const numbers = await clients.numbersOf(scope);
      return {
        phone_number_ids: numbers.slice(0, LISTED_NUMBERS_MAX),
        has_more: numbers.length > LISTED_NUMBERS_MAX,
      };
    },
    async getReceiver({ partner_id }) {
      const partner = await partners.find(partner_id);
      if (!partner) throw new ApiError('NOT_FOUND', 'no such partner');
      return receiverOf(partner);
    },
    async getReceivers({ partner_ids }) {
      refuseTooMany('partner_ids', partner_ids);
      const found = await partners.findAll(partner_ids);
      return {
        receivers: Object.fromEntries(found.map((partner) => [partner._id, receiverOf(partner)])),
      };
    },
    async storePin({ pin, ...scope }) {
      const sealed = vault.seal(secretIdentity(scope, 'pin'), pin);
      const client = await clients.find(scope);
      if (client?.status !== 'active') return { stored: false };
      await clients.change(scope, { pin: sealed });
      return { stored: true };
    },
    async getPin(scope) {
      const client = await clients.find(scope);
      if (client?.status !== 'active' || !client.pin) return { pin: undefined };
      return { pin: vault.open(secretIdentity(scope, 'pin'), client.pin) };
    },
  };
};

/** Whether the number may send now, or why not: an unpaid slot comes before a paused number. */
const sendingState = ({ billing, health, withdrawn_at }: Client): string => {
  if (billing !== 'active') return billing;
  return health === 'paused' || withdrawn_at ? 'paused' : 'active';
};

const callerOf = ({ _id, rate_limit_per_sec, status }: Partner): AuthenticateResponse => ({
  partner_id: _id,
  rate_limit_per_sec,
  status,
});

const validKeys = ({ key_hash, previous_key }: Partner, at: Date): string[] =>
  previous_key && previous_key.expires_at > at ? [key_hash, previous_key.key_hash] : [key_hash];

const ownersOf = (rows: Client[]) => ({
  partner_ids: [...new Set(rows.map((row) => row.partner_id))],
  waba_id: rows[0]?.waba_id,
});

/** Items in one question about many. */
const ASKED_AT_ONCE_MAX = 1_000;

function refuseTooMany(field: string, asked: unknown[]): void {
  if (asked.length <= ASKED_AT_ONCE_MAX) return;
  throw new ApiError('INVALID_PAYLOAD', `${field}: at most ${ASKED_AT_ONCE_MAX} at once`);
}
