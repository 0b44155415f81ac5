// The data sync of a number that stays in use in the business app: contacts first, then history. Each is
// asked for once an onboarding, and within 24 hours of it, or the client must onboard again.
import type { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Upstream } from '@bmg/common/upstream';
import type { StepFacts } from './onboarding-log';
import { requestSync, type SyncOutcomes, type SyncType } from '../upstream/number-facts';
import type { Client, ClientChange, Clients } from '../store/clients';

const TYPES = ['smb_app_state_sync', 'history'] as const satisfies readonly SyncType[];
const MINUTE_MS = 60_000;
const WINDOW_MS = 24 * 60 * MINUTE_MS;
/** Waits between the requests that are made again; the last one goes on to the end of the window. */
const AGAIN_AFTER_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS];

export interface SyncDependencies {
  clients: Clients;
  upstream: Upstream;
  now: () => Date;
}

export interface Synced {
  client: Client;
  sync: SyncOutcomes;
  /** The first refusal. */
  failure: ApiError | undefined;
}

/** What has not been asked for yet. */
export const missingSyncs = ({ sync_requested }: Client): SyncType[] =>
  TYPES.filter((type) => !sync_requested[type]);

/** When to ask again after so many requests that were made again. */
export const nextSyncTry = (now: Date, tries: number): Date =>
  new Date(now.getTime() + (AGAIN_AFTER_MS[tries] ?? Math.max(...AGAIN_AFTER_MS)));

/**
 * The 24 hours of a new onboarding. A registration by hand does not say when the number was onboarded: its
 * first one is taken for the beginning.
 */
export function openSyncWindow(
  before: Client | null,
  given: { onboarding_id: string | undefined; is_on_biz_app: boolean },
  now: Date,
): Pick<Client, 'sync_until' | 'sync_retry_at' | 'sync_tries' | 'sync_warned'> {
  if (!given.is_on_biz_app) return { sync_until: null, sync_retry_at: null };
  const begins =
    given.onboarding_id === undefined
      ? before?.status !== 'active'
      : before?.onboarding_id !== given.onboarding_id;
  if (!begins) return {};
  return {
    sync_until: new Date(now.getTime() + WINDOW_MS),
    // Soon, in case that the registration is cut off before it has asked.
    sync_retry_at: nextSyncTry(now, 0),
    sync_tries: 0,
    sync_warned: false,
  };
}

/** Asks for what is missing; what the upstream takes is kept, and what it refuses fails nothing else. */
export async function syncCoexistence(
  { clients, upstream, now }: SyncDependencies,
  registered: Client,
  token: string,
  call: Call,
): Promise<Synced> {
  let client = registered;
  let failure: ApiError | undefined;
  const sync: SyncOutcomes = { smb_app_state_sync: 'requested', history: 'requested' };
  const change = async (fields: ClientChange): Promise<void> => {
    client = (await clients.change(client, fields)) ?? client;
  };
  for (const type of missingSyncs(client)) {
    if (!client.is_on_biz_app) {
      sync[type] = 'failed: the number is not in use in the business app';
      continue;
    }
    const answer = await requestSync(upstream, client.phone_number_id, type, token, call);
    sync[type] = answer.outcome;
    failure ??= answer.failure;
    if (answer.failure) continue;
    await change({ sync_requested: { ...client.sync_requested, [type]: now() } });
  }
  if (client.sync_retry_at && missingSyncs(client).length === 0) {
    await change({ sync_retry_at: null });
  }
  return { client, sync, failure };
}

/** How a sync reads in the log of onboarding. */
export function syncFacts({ sync, failure }: Pick<Synced, 'sync' | 'failure'>): StepFacts {
  const failed = TYPES.filter((type) => sync[type] !== 'requested');
  if (failed.length === 0) return {};
  return {
    error_code: 'SYNC_FAILED',
    error_message: failed.map((type) => `${type} ${sync[type]}`).join('; '),
    upstream_session_id: failure?.upstream_trace_id,
  };
}
