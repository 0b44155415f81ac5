// Fetches a number's facts again: every day, and after an event that says they changed without their
// new values. Due refreshes are stored with the client, so a restart loses none. A failed one is
// retried a bounded number of times, then the next day.
import type { Poller } from '@bmg/common/lifecycle';
import { createPoller } from '@bmg/common/lifecycle';
import type { Versions } from '@bmg/common/directory';
import { ownCall } from '@bmg/common/rpc';
import { endSpan, startSpan, type Logger } from '@bmg/common/telemetry';
import type { Upstream } from '@bmg/common/upstream';
import { fetchNumber } from '../upstream';
import { versionKeys } from './state-events';
import type { ClientFacts } from './store';
import { nextRefresh, secretIdentity, type Client, type Clients } from '../../ground/clients';
import type { NumberDays } from '../../ground/number-days';
import type { Vault } from '@bmg/common/vault';

export interface RefreshDependencies {
  clients: Clients;
  clientFacts: ClientFacts;
  numberDays: Pick<NumberDays, 'record'>;
  vault: Vault;
  upstream: Upstream;
  versions: Versions;
  now: () => Date;
  log: Logger;
}

const POLL_EVERY_MS = 5_000;
const REFRESH_LIMIT_MS = 15_000;
const LEASE_MS = 60_000;
const RETRY_AFTER_MS = 30_000;
const TRIES_MAX = 5;
/** Clients per run; if more are due, the next run follows at once. */
const RUN_MAX = 20;

export function createRefreshPoller(deps: RefreshDependencies): Poller {
  const poller = createPoller('number refresh', POLL_EVERY_MS, () => refreshDue(deps), deps.log);
  return {
    ...poller,
    async start(signal) {
      // Releases without a daily refresh left numbers without a time for it.
      await deps.clientFacts.scheduleRefreshes(deps.now());
      await poller.start(signal);
    },
  };
}

/** One run. Returns true if more may be due. */
export async function refreshDue(deps: RefreshDependencies): Promise<boolean> {
  const { clientFacts, now } = deps;
  for (let done = 0; done < RUN_MAX; done += 1) {
    const at = now();
    const client = await clientFacts.claimRefresh(at, new Date(at.getTime() + LEASE_MS));
    if (!client) return false;
    await refresh(deps, client);
  }
  return true;
}

async function refresh(deps: RefreshDependencies, client: Client): Promise<void> {
  const { clients, clientFacts, numberDays, vault, upstream, versions, now, log } = deps;
  const span = startSpan('refresh number');
  const call = ownCall(span.spanContext(), REFRESH_LIMIT_MS);
  try {
    const token = vault.open(secretIdentity(client, 'token'), client.token);
    const { verified_name: _verified_name, ...facts } = await fetchNumber(
      upstream,
      client.phone_number_id,
      token,
      call,
    );
    const at = now();
    await clientFacts.finishRefresh(client.phone_number_id, facts, nextRefresh(at));
    const owners = await clients.ownersOfNumber(client.phone_number_id);
    await versions.bump(versionKeys(owners));
    await numberDays.record(owners, at);
    endSpan(span);
  } catch (error) {
    const tries = client.refresh_tries ?? TRIES_MAX;
    const last = tries >= TRIES_MAX;
    const retry_at = last ? nextRefresh(now()) : new Date(now().getTime() + RETRY_AFTER_MS * tries);
    log.warn(
      { err: error, waba_id: client.waba_id, tries, retry_at: retry_at.toISOString() },
      'failed to fetch number facts',
    );
    await clientFacts.postponeRefresh(client, retry_at);
    endSpan(span, { code: 'refresh_failed' });
  }
}
