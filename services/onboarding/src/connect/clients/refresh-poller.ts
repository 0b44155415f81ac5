// Fetches a number's facts again: every day, and after an event that says they changed without
// their new values. Due refreshes are stored with the client, so a restart loses none. A failed one
// is retried a bounded number of times, then the next day.
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { ownCall } from '@bmg/common/rpc';
import { endSpan, startSpan } from '@bmg/common/telemetry';
import { fetchNumber } from '../upstream';
import { eachClaimed } from '../../ground/each-claimed';
import { nextRefresh, secretIdentity, versionKeys, type Client } from '../../ground/clients';
import type { Dependencies } from '../../dependencies';

const POLL_EVERY_MS = 5_000;
const REFRESH_LIMIT_MS = 15_000;
const LEASE_MS = 60_000;
const RETRY_AFTER_MS = 30_000;
const TRIES_MAX = 5;
/** Clients per run; if more are due, the next run follows at once. */
const RUN_MAX = 20;

export function createRefreshPoller(deps: Dependencies): Poller {
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
export async function refreshDue(deps: Dependencies): Promise<boolean> {
  const { clientFacts, now } = deps;
  const claim = (): Promise<Client | null> =>
    clientFacts.claimRefresh(now(), new Date(now().getTime() + LEASE_MS));
  return eachClaimed(RUN_MAX, claim, (client) => refresh(deps, client));
}

async function refresh(deps: Dependencies, client: Client): Promise<void> {
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
