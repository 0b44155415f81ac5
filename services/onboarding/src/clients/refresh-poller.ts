// Fetches a number's facts again where an event says that they have changed without saying to what. What
// is due is kept with the client, so that a restart loses nothing; one number at a time, with an end.
import type { Poller } from '@bmg/common/lifecycle';
import { createPoller } from '@bmg/common/lifecycle';
import type { Versions } from '@bmg/common/directory';
import { ownCall } from '@bmg/common/rpc';
import { endSpan, startSpan, type Logger } from '@bmg/common/telemetry';
import type { Upstream } from '@bmg/common/upstream';
import { fetchNumber } from '../upstream/number-facts';
import { versionKeys } from './state-events';
import type { ClientEvents } from '../store/client-facts';
import { secretIdentity, type Client, type Clients } from '../store/clients';
import type { Vault } from '../secrets/vault';

export interface RefreshDependencies {
  clients: Clients;
  clientEvents: ClientEvents;
  vault: Vault;
  upstream: Upstream;
  versions: Versions;
  now: () => Date;
  log: Logger;
}

const LOOK_EVERY_MS = 5_000;
const REFRESH_LIMIT_MS = 15_000;
const LEASE_MS = 60_000;
const AGAIN_AFTER_MS = 30_000;
const TRIES_MAX = 5;
/** In one turn; more are taken in the next one, at once. */
const TURN_MAX = 20;

export function createRefresher(deps: RefreshDependencies): Poller {
  return createPoller('number refresh', LOOK_EVERY_MS, () => refreshDue(deps), deps.log);
}

/** Answers true when more may be due. */
export async function refreshDue(deps: RefreshDependencies): Promise<boolean> {
  const { clientEvents, now } = deps;
  for (let done = 0; done < TURN_MAX; done += 1) {
    const at = now();
    const client = await clientEvents.claimRefresh(at, new Date(at.getTime() + LEASE_MS));
    if (!client) return false;
    await refresh(deps, client);
  }
  return true;
}

async function refresh(deps: RefreshDependencies, client: Client): Promise<void> {
  const { clients, clientEvents, vault, upstream, versions, now, log } = deps;
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
    await clientEvents.finishRefresh(client.phone_number_id, facts);
    await versions.bump(versionKeys(await clients.ownersOfNumber(client.phone_number_id)));
    endSpan(span);
  } catch (error) {
    const tries = client.refresh_tries ?? TRIES_MAX;
    const last = tries >= TRIES_MAX;
    const again = last ? null : new Date(now().getTime() + AGAIN_AFTER_MS * tries);
    log.warn(
      { err: error, waba_id: client.waba_id, tries, again: again?.toISOString() ?? null },
      'a number’s facts could not be fetched',
    );
    await clientEvents.postponeRefresh(client, again);
    endSpan(span, { code: 'refresh_failed' });
  }
}
