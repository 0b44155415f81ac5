// RPC handlers for clients: registration by hand, listing, deletion, refresh and resubscription.
import { invalidField } from '@bmg/common/errors';
import { notRegistered } from '@bmg/common/directory';
import type { Call, Handlers } from '@bmg/common/rpc';
import type { OnboardingDefinition } from '@bmg/proto/onboarding';
import { monthOf } from '../../ground/slots';
import {
  secretIdentity,
  versionKeys,
  type Client,
  type NumberFacts,
  type Scope,
} from '../../ground/clients';
import { fetchNumber, subscribe, unsubscribe } from '../upstream';
import { clientMessage } from './message';
import { registerClient } from './register';
import type { Dependencies } from '../../dependencies';

const DAY_MS = 86_400_000;
/** Events in flight are logged, and expired ones deleted, within this time. */
const EVENTS_LEAVE_MS = 2 * 3_600_000;

export const createClientHandlers = (deps: Dependencies) => {
  const { clients, upstream } = deps;
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
      await deleteAccount(deps, { partner_id, waba_id }, call);
      const kept_ms = deps.settings.EVENT_LOG_DAYS * DAY_MS + EVENTS_LEAVE_MS;
      return { events_removed_by: new Date(deps.now().getTime() + kept_ms) };
    },
    async refreshClient({ partner_id, waba_id, phone_number_id, access_token }, call) {
      const scope = { partner_id, waba_id };
      const active = await activeClients(deps, scope);
      const chosen =
        phone_number_id === undefined
          ? active
          : active.filter((client) => client.phone_number_id === phone_number_id);
      if (chosen.length === 0) {
        throw invalidField('phone_number_id', 'does not belong to the WABA');
      }
      const refreshed = await Promise.all(
        chosen.map((client) => refresh(deps, client, access_token, call)),
      );
      await deps.versions.bump(versionKeys([scope]));
      const [facts] = refreshed as [NumberFacts];
      return {
        quality_rating: facts.quality_rating ?? undefined,
        throughput_level: facts.throughput_level ?? undefined,
        messaging_limit_tier: facts.messaging_limit_tier ?? undefined,
        token_updated: access_token !== undefined,
      };
    },
    async resubscribeWebhook({ partner_id, waba_id }, call) {
      const [client] = await activeClients(deps, { partner_id, waba_id });
      await subscribe(upstream, waba_id, tokenOf(deps, client), call);
      return { message: 'the business account is subscribed to webhooks' };
    },
  } satisfies Partial<Handlers<OnboardingDefinition>>;
};

async function activeClients(
  { clients }: Dependencies,
  scope: Scope,
): Promise<[Client, ...Client[]]> {
  const [first, ...rest] = await clients.activeOf(scope);
  if (!first) throw notRegistered();
  return [first, ...rest];
}

const tokenOf = ({ vault }: Dependencies, client: Client): string =>
  vault.open(secretIdentity(client, 'token'), client.token);

/** Safe to repeat: completes a deletion that a crash interrupted. */
async function deleteAccount(deps: Dependencies, scope: Scope, call: Call): Promise<void> {
  const { clients, openRegistrations, partners, upstream, now, log } = deps;
  const { partner_id, waba_id } = scope;
  // A registration that failed half-way has events, but no client that could be found.
  await openRegistrations.closeAccount(scope);
  const client = await deletableClient(deps, scope);
  await clients.remove(scope, now());
  deps.onEventsDue();
  await deps.versions.bump(versionKeys([scope]));
  await partners.releaseWaba(partner_id, waba_id, monthOf(now()));
  const others = await Promise.all([
    clients.ownersOfAccount(waba_id),
    openRegistrations.ofAccount(waba_id, now()),
  ]);
  if (others.flat().length > 0) return;
  // A failure here does not fail the deletion: events of the account no longer have an owner.
  await unsubscribe(upstream, waba_id, tokenOf(deps, client), call).catch((error: unknown) =>
    log.warn({ err: error, waba_id }, 'failed to unsubscribe deleted account'),
  );
}

/** An active client, or a deleted one that a crash left with its place in the plan. */
async function deletableClient({ clients, partners }: Dependencies, scope: Scope): Promise<Client> {
  const [active] = await clients.activeOf(scope);
  if (active) return active;
  const [deleted] = await clients.deletedOf(scope);
  const partner = await partners.find(scope.partner_id);
  if (!deleted || !partner?.wabas.includes(scope.waba_id)) throw notRegistered();
  return deleted;
}

/** Stores a new token only after the upstream has accepted it. */
async function refresh(
  deps: Dependencies,
  client: Client,
  access_token: string | undefined,
  call: Call,
): Promise<NumberFacts> {
  const { clients, numberDays, vault, upstream, now } = deps;
  const { verified_name: _verified_name, ...facts } = await fetchNumber(
    upstream,
    client.phone_number_id,
    access_token ?? tokenOf(deps, client),
    call,
  );
  const changed = await clients.change(client, {
    ...facts,
    ...(access_token !== undefined && {
      token: vault.seal(secretIdentity(client, 'token'), access_token),
      token_expires_at: null,
      // Inspected at the next run.
      token_checked_at: new Date(0),
    }),
  });
  if (changed) await numberDays.record([changed], now());
  return facts;
}

function listedStatus(status: string | undefined): 'active' | 'deleted' | 'all' {
  if (status === undefined || status === 'active') return 'active';
  if (status === 'deleted' || status === 'all') return status;
  throw invalidField('status', 'must be active, deleted or all');
}
