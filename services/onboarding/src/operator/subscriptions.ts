// Checks with the upstream that our app is subscribed to the webhooks of the connected accounts:
// without the subscription, sends succeed but no event arrives.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Upstream } from '@bmg/common/upstream';
import type { Vault } from '@bmg/common/vault';
import { secretIdentity, type Client, type Clients } from '../ground/clients';
import { isSubscribed } from '../connect/upstream';

export interface SubscriptionDependencies {
  settings: { UPSTREAM_APP_ID?: string | undefined };
  clients: Pick<Clients, 'newestActive'>;
  vault: Vault;
  upstream: Upstream;
}

export interface Subscriptions {
  asked: number;
  /** One line for each account without events: its ID and the reason. */
  findings: string[];
}

/** Checks the most recent accounts, a few at a time: a command must not flood the upstream. */
const CLIENTS_MAX = 500;
const ACCOUNTS_MAX = 50;
const AT_ONCE = 8;

export async function findSubscriptions(
  deps: SubscriptionDependencies,
  call: Call,
): Promise<Subscriptions> {
  const active = await deps.clients.newestActive(CLIENTS_MAX);
  const accounts = [...new Map(active.map((one) => [one.waba_id, one])).values()];
  const asked = accounts.slice(0, ACCOUNTS_MAX);
  const findings: string[] = [];
  const waiting = asked.values();
  const worker = async (): Promise<void> => {
    for (const client of waiting) {
      const reason = await reasonOf(deps, client, call);
      if (reason !== null) findings.push(`${client.waba_id} ${reason}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { asked: asked.length, findings };
}

async function reasonOf(
  { settings, vault, upstream }: SubscriptionDependencies,
  client: Client,
  call: Call,
): Promise<string | null> {
  try {
    const token = vault.open(secretIdentity(client, 'token'), client.token);
    const app_id = settings.UPSTREAM_APP_ID;
    const subscribed = await isSubscribed(upstream, client.waba_id, { token, app_id }, call);
    return subscribed ? null : 'is not subscribed';
  } catch (error) {
    if (!(error instanceof ApiError) || error.upstream_code === undefined) throw error;
    return `cannot be checked (upstream code ${error.upstream_code})`;
  }
}
