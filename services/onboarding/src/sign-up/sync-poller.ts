// The clock of the data sync: asks again for what the upstream has not taken yet, says so while there is
// still time for a person to look, and says it again once the 24 hours are over.
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { ownCall } from '@bmg/common/rpc';
import { endSpan, metrics, startSpan, type Logger } from '@bmg/common/telemetry';
import { createAttempt, type Attempt, type AttemptDependencies } from './onboarding-log';
import {
  missingSyncs,
  nextSyncTry,
  syncCoexistence,
  syncFacts,
  type SyncDependencies,
  type Synced,
} from './coexistence-sync';
import type { ClientSyncs } from '../store/client-syncs';
import { secretIdentity, type Client, type ClientChange } from '../store/clients';
import type { Vault } from '../secrets/vault';

export interface SyncClockDependencies extends SyncDependencies, AttemptDependencies {
  clientSyncs: ClientSyncs;
  vault: Vault;
  log: Logger;
}

const LOOK_EVERY_MS = 30_000;
const SYNC_LIMIT_MS = 25_000;
const LEASE_MS = 120_000;
/** In one turn; more are taken in the next one, at once. */
const TURN_MAX = 20;
const HOUR_MS = 3_600_000;
/** A person is told when less than this is left. */
export const WARN_MS = 6 * HOUR_MS;
/** The upstream's own word that the time is over. */
const WINDOW_OVER = 2593108;

export function createSyncClock(deps: SyncClockDependencies): Poller {
  return createPoller('coexistence sync', LOOK_EVERY_MS, () => syncDue(deps), deps.log);
}

/** Answers true when more may be due. */
export async function syncDue(deps: SyncClockDependencies): Promise<boolean> {
  const { clientSyncs, now } = deps;
  let more = true;
  for (let done = 0; more && done < TURN_MAX; done += 1) {
    const at = now();
    const client = await clientSyncs.claim(at, new Date(at.getTime() + LEASE_MS));
    if (client) await syncAgain(deps, client);
    else more = false;
  }
  const soon = new Date(now().getTime() + WARN_MS);
  metrics.coexistence_syncs_due.set(await clientSyncs.countUntil(soon));
  return more;
}

async function syncAgain(deps: SyncClockDependencies, claimed: Client): Promise<void> {
  const { clients, now, log } = deps;
  const { partner_id, waba_id, phone_number_id } = claimed;
  const attempt = createAttempt(deps, partner_id, null, claimed);
  const left_ms = (claimed.sync_until?.getTime() ?? 0) - now().getTime();
  try {
    if (left_ms <= 0) return await giveUp(deps, claimed, attempt, undefined);
    const synced = await request(deps, claimed);
    if (missingSyncs(synced.client).length === 0) {
      await attempt.note('COEXISTENCE_SYNC');
      return;
    }
    if (!claimed.is_on_biz_app) {
      await clients.change(claimed, { sync_retry_at: null });
      return;
    }
    if (synced.failure?.upstream_code === WINDOW_OVER) {
      return await giveUp(deps, claimed, attempt, synced);
    }
    await clients.change(claimed, {
      sync_retry_at: nextSyncTry(now(), claimed.sync_tries ?? 0),
      ...(await warn(deps, { claimed, attempt, synced, left_ms })),
    });
  } catch (error) {
    log.warn(
      { err: error, partner_id, waba_id, phone_number_id },
      'the sync of a number could not be asked for again',
    );
  }
}

async function request(deps: SyncClockDependencies, client: Client): Promise<Synced> {
  const span = startSpan('sync number');
  const call = ownCall(span.spanContext(), SYNC_LIMIT_MS);
  try {
    const token = deps.vault.open(secretIdentity(client, 'token'), client.token);
    const synced = await syncCoexistence(deps, client, token, call);
    endSpan(span, synced.failure);
    return synced;
  } catch (error) {
    endSpan(span, { code: 'sync_failed' });
    throw error;
  }
}

/** Once, when the time runs out: in the log of onboarding, which the partner reads, and in ours. */
async function warn(
  { log }: SyncClockDependencies,
  {
    claimed,
    attempt,
    synced,
    left_ms,
  }: { claimed: Client; attempt: Attempt; synced: Synced; left_ms: number },
): Promise<ClientChange> {
  if (left_ms >= WARN_MS || claimed.sync_warned) return {};
  const { partner_id, waba_id, phone_number_id } = claimed;
  const facts = syncFacts(synced);
  const hours_left = Math.ceil(left_ms / HOUR_MS);
  log.warn(
    { partner_id, waba_id, phone_number_id, hours_left, reason: facts.error_message },
    'the time to ask for the sync of a number runs out',
  );
  await attempt.note('SYNC_DUE', {
    ...facts,
    error_message: `less than ${hours_left} h are left to ask for the sync: ${facts.error_message ?? ''}`,
  });
  return { sync_warned: true };
}

/** Nothing but a new onboarding opens the sync again. */
async function giveUp(
  { clients, log }: SyncClockDependencies,
  claimed: Client,
  attempt: Attempt,
  synced: Synced | undefined,
): Promise<void> {
  const { partner_id, waba_id, phone_number_id } = claimed;
  const missing = missingSyncs(claimed).join(', ');
  log.warn({ partner_id, waba_id, phone_number_id, missing }, 'the sync of a number was missed');
  await attempt.note('COEXISTENCE_SYNC', {
    error_code: 'SYNC_EXPIRED',
    error_message: `the 24 hours to ask for ${missing} are over: the client must onboard again`,
    upstream_session_id: synced?.failure?.upstream_trace_id,
  });
  await clients.change(claimed, { sync_retry_at: null });
}
