// What partners reach through the gateway: clients and their life.
import { ApiError, invalidField } from '@bmg/common/errors';
import { partnerVersionKey, wabaVersionKey } from '@bmg/common/directory';
import type { Call, Handlers } from '@bmg/common/rpc';
import type { OnboardingDefinition } from '@bmg/proto/onboarding';
import type { AttemptDependencies } from '../sign-up/onboarding-log';
import { clientMessage } from './message';
import { notRegistered } from '../directory/handlers';
import { fetchNumber, subscribe, unsubscribe } from '../upstream/number-facts';
import { registerClient, type RegisterDependencies } from './register';
import { monthOf } from '../payments/slots';
import { secretIdentity, type Client, type Scope } from '../store/clients';

export type ClientDependencies = RegisterDependencies & AttemptDependencies;

type ClientHandlers = Pick<
  Handlers<OnboardingDefinition>,
  'registerClient' | 'listClients' | 'deleteClient' | 'refreshClient' | 'resubscribeWebhook'
>;

export const clientHandlers = (deps: ClientDependencies): ClientHandlers => {
  const { clients, partners, vault, upstream, versions, now, log } = deps;

  const activeOf = async (scope: Scope): Promise<[Client, ...Client[]]> => {
    const [first, ...rest] = await clients.activeOf(scope);
    if (!first) throw notRegistered();
    return [first, ...rest];
  };
  /** Deleted already, but its place is still taken: a crash came between, and a repeat completes it. */
  const deletable = async (scope: Scope): Promise<Client> => {
    const [active] = await clients.activeOf(scope);
    if (active) return active;
    const [deleted] = await clients.deletedOf(scope);
    const partner = await partners.find(scope.partner_id);
    if (!deleted || !partner?.wabas.includes(scope.waba_id)) throw notRegistered();
    return deleted;
  };
  const tokenOf = (client: Client): string =>
    vault.open(secretIdentity(client, 'token'), client.token);
  const announce = (scope: Scope): Promise<void> =>
    versions.bump([partnerVersionKey(scope.partner_id), wabaVersionKey(scope.waba_id)]);

  return {
    async registerClient(
      { partner_id, waba_id, phone_number_id, access_token, display_name },
      call,
    ) {
      const { client, created, sync } = await registerClient(
        deps,
        { partner_id, waba_id, phone_number_id },
        { access_token, display_name },
        call,
      );
      return { client: clientMessage(client), created, coexistence_sync: sync };
    },
    async listClients({ partner_id, limit, offset, status }) {
      const found = await clients.list(partner_id, listedStatus(status), { limit, offset });
      return { clients: found.clients.map(clientMessage), total: found.total };
    },
    async deleteClient({ partner_id, waba_id }, call) {
      const scope = { partner_id, waba_id };
      const client = await deletable(scope);
      await clients.remove(scope, now());
      await announce(scope);
      await partners.releaseWaba(partner_id, waba_id, monthOf(now()));
      const others = await clients.ownersOfAccount(waba_id);
      if (others.length === 0) {
        // The client is deleted whatever the upstream says: its webhooks find no owner any more.
        await unsubscribe(upstream, waba_id, tokenOf(client), call).catch((error: unknown) =>
          log.warn({ err: error, waba_id }, 'a deleted account could not be unsubscribed'),
        );
      }
      return {};
    },
    async refreshClient({ partner_id, waba_id, phone_number_id, access_token }, call) {
      const scope = { partner_id, waba_id };
      const active = await activeOf(scope);
      const meant =
        phone_number_id === undefined
          ? active
          : active.filter((client) => client.phone_number_id === phone_number_id);
      if (meant.length === 0) throw invalidField('phone_number_id', 'does not belong to the WABA');
      const refreshed = await Promise.all(
        meant.map((client) => refresh(client, access_token, call)),
      );
      await announce(scope);
      const [facts] = refreshed as [Awaited<ReturnType<typeof refresh>>];
      return {
        quality_rating: facts.quality_rating ?? undefined,
        throughput_level: facts.throughput_level ?? undefined,
        messaging_limit_tier: facts.messaging_limit_tier ?? undefined,
        token_updated: access_token !== undefined,
      };
    },
    async resubscribeWebhook({ partner_id, waba_id }, call) {
      const [client] = await activeOf({ partner_id, waba_id });
      await subscribe(upstream, waba_id, tokenOf(client), call);
      return { message: 'the business account is subscribed to webhooks' };
    },
  };

  /** A new token is kept only once the upstream has taken it: a refused one leaves the old. */
  async function refresh(client: Client, access_token: string | undefined, call: Call) {
    const token = access_token ?? tokenOf(client);
    const { verified_name: _verified_name, ...facts } = await fetchNumber(
      upstream,
      client.phone_number_id,
      token,
      call,
    );
    await clients.change(client, {
      ...facts,
      ...(access_token !== undefined && {
        token: vault.seal(secretIdentity(client, 'token'), access_token),
      }),
    });
    return facts;
  }
};

function listedStatus(status: string | undefined): 'active' | 'deleted' | 'all' {
  if (status === undefined || status === 'active') return 'active';
  if (status === 'deleted' || status === 'all') return status;
  throw new ApiError('INVALID_FIELD', 'status must be active, deleted or all', {
    details: { field: 'status' },
  });
}
