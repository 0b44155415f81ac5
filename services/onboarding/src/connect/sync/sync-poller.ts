// Retries data syncs that the upstream has not accepted yet. Warns while there is time for a person
// to act, and gives up once the 24-hour window has closed.
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { ownCall } from '@bmg/common/rpc';
import { endSpan, metrics, startSpan } from '@bmg/common/telemetry';
import { createOnboardingLog, type OnboardingLog } from '../onboarding-log';
import {
  missingSyncs,
  nextSyncTry,
  syncCoexistence,
  syncFacts,
  type Synced,
} from './coexistence-sync';
import type { Client, ClientChange } from '../../ground/clients';
import { eachClaimed } from '../../ground/each-claimed';
import type { Dependencies } from '../../dependencies';

const POLL_EVERY_MS = 30_000;
const SYNC_LIMIT_MS = 25_000;
const LEASE_MS = 120_000;
/** Clients per run; if more are due, the next run follows at once. */
const RUN_MAX = 20;
const HOUR_MS = 3_600_000;
/** Warns when less than this is left of the window. */
const WARN_MS = 6 * HOUR_MS;
/** The upstream's code for a request after the window has closed. */
const WINDOW_CLOSED = 2593108;

export function createSyncPoller(deps: Dependencies): Poller {
  return createPoller('coexistence sync', POLL_EVERY_MS, () => syncDue(deps), deps.log);
}

/** One run. Returns true when more may be due. */
export async function syncDue(deps: Dependencies): Promise<boolean> {
  const { clientSyncs, now } = deps;
  const claim = (): Promise<Client | null> =>
    clientSyncs.claim(now(), new Date(now().getTime() + LEASE_MS));
  const more = await eachClaimed(RUN_MAX, claim, (client) => retrySync(deps, client));
  const soon = new Date(now().getTime() + WARN_MS);
  metrics.coexistence_syncs_due.set(await clientSyncs.countUntil(soon));
  return more;
}

async function retrySync(deps: Dependencies, claimed: Client): Promise<void> {
  const { clientSyncs, now, log } = deps;
  const { partner_id, waba_id, phone_number_id } = claimed;
  const steps = createOnboardingLog(deps, partner_id, null, claimed);
  const left_ms = (claimed.sync_until?.getTime() ?? 0) - now().getTime();
  try {
    if (left_ms <= 0) return await giveUp(deps, claimed, steps, undefined);
    const synced = await request(deps, claimed);
    if (missingSyncs(synced.client).length === 0) {
      await steps.record('COEXISTENCE_SYNC');
      return;
    }
    if (!claimed.is_on_biz_app) {
      await clientSyncs.change(claimed, { sync_retry_at: null });
      return;
    }
    if (synced.failure?.upstream_code === WINDOW_CLOSED) {
      return await giveUp(deps, claimed, steps, synced);
    }
    await clientSyncs.change(claimed, {
      sync_retry_at: nextSyncTry(now(), claimed.sync_tries ?? 0),
      ...(await warn(deps, { claimed, steps, synced, left_ms })),
    });
  } catch (error) {
    log.warn({ err: error, partner_id, waba_id, phone_number_id }, 'failed to retry data sync');
  }
}

async function request(deps: Dependencies, client: Client): Promise<Synced> {
  const span = startSpan('sync number');
  const call = ownCall(span.spanContext(), SYNC_LIMIT_MS);
  try {
    const synced = await syncCoexistence(deps, client, call);
    endSpan(span, synced.failure);
    return synced;
  } catch (error) {
    endSpan(span, { code: 'sync_failed' });
    throw error;
  }
}

/**
 * Warns once, when the window is about to close: the operator in our log, the partner in the
 * onboarding log. Returns the change to store with the client.
 */
async function warn(
  { log }: Dependencies,
  {
    claimed,
    steps,
    synced,
    left_ms,
  }: { claimed: Client; steps: OnboardingLog; synced: Synced; left_ms: number },
): Promise<ClientChange> {
  if (left_ms >= WARN_MS || claimed.sync_warned) return {};
  const { partner_id, waba_id, phone_number_id } = claimed;
  const facts = syncFacts(synced);
  const hours_left = Math.ceil(left_ms / HOUR_MS);
  log.warn(
    { partner_id, waba_id, phone_number_id, hours_left, reason: facts.error_message },
    'data sync window closes soon',
  );
  await steps.record('SYNC_DUE', {
    ...facts,
    error_message: `less than ${hours_left} h are left to request the sync: ${facts.error_message ?? ''}`,
  });
  return { sync_warned: true };
}

/** Stops retrying: only a new onboarding reopens the window. */
async function giveUp(
  { clientSyncs, log }: Dependencies,
  claimed: Client,
  steps: OnboardingLog,
  synced: Synced | undefined,
): Promise<void> {
  const { partner_id, waba_id, phone_number_id } = claimed;
  const missing = missingSyncs(claimed).join(', ');
  log.warn({ partner_id, waba_id, phone_number_id, missing }, 'data sync window missed');
  await steps.record('COEXISTENCE_SYNC', {
    error_code: 'SYNC_EXPIRED',
    error_message: `the 24 hours to request ${missing} have passed: the client must onboard again`,
    upstream_session_id: synced?.failure?.upstream_trace_id,
  });
  await clientSyncs.change(claimed, { sync_retry_at: null });
}
