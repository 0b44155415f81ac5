// The data sync of a number that stays in use in the business app (coexistence): contacts first,
// then history. Each is requested once per onboarding and within 24 hours of it, or the client must
// onboard again (contract 10.6).
import { isDeepStrictEqual } from 'node:util';
import type { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { DataSync, HistorySync } from '@bmg/proto/onboarding';
import type { StepFacts } from '../onboarding-log';
import { requestSync, type SyncAnswer, type SyncOutcomes, type SyncType } from '../upstream';
import { secretIdentity, type Client, type ClientChange } from '../../ground/clients';
import type { Dependencies } from '../../dependencies';

const TYPES = ['smb_app_state_sync', 'history'] as const satisfies readonly SyncType[];
const MINUTE_MS = 60_000;
export const WINDOW_MS = 24 * 60 * MINUTE_MS;
/** Delays between retries; the last one repeats until the window closes. */
const RETRY_AFTER_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS];

/** Requests of one type that are given up because a registration has replaced the token. */
const REPLACED_MAX = 5;

export interface Synced {
  client: Client;
  sync: SyncOutcomes;
  /** The upstream's first refusal of a sync type. */
  failure: ApiError | undefined;
}

/** The sync types that the upstream has not accepted yet. */
export const missingSyncs = ({ sync_requested }: Client): SyncType[] =>
  TYPES.filter((type) => !sync_requested[type]);

/** The partner's view of the sync; undefined for a number that has none. */
export function dataSyncOf(client: Client): DataSync | undefined {
  const { is_on_biz_app, sync_requested, sync_until, sync_retry_at } = client;
  if (!is_on_biz_app || !sync_until) return undefined;
  const is_requested = missingSyncs(client).length === 0;
  return {
    // Retries end when the window has closed.
    status: is_requested ? 'requested' : sync_retry_at ? 'waiting' : 'expired',
    contacts_requested_at: sync_requested.smb_app_state_sync ?? undefined,
    history_requested_at: sync_requested.history ?? undefined,
    request_until: sync_until,
    history: historyOf(client),
  };
}

function historyOf(client: Client): HistorySync | undefined {
  const { history_at, history_phase, history_progress, history_error } = client;
  if (!history_at) return undefined;
  return {
    phase: history_phase ?? undefined,
    progress: history_progress ?? undefined,
    received_at: history_at,
    error_code: history_error?.code,
    error_message: history_error?.message,
  };
}

/** When to retry, after `tries` retries. */
export const nextSyncTry = (now: Date, tries: number): Date =>
  new Date(now.getTime() + (RETRY_AFTER_MS[tries] ?? Math.max(...RETRY_AFTER_MS)));

/**
 * The fields that open the 24-hour window of a new onboarding; none if the window is already open.
 * A manual registration does not state when the number was onboarded, so its first one opens the
 * window.
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
    // So that the poller requests the sync if the registration crashes before its own request.
    sync_retry_at: nextSyncTry(now, 0),
    sync_tries: 0,
    sync_warned: false,
  };
}

/**
 * Requests the missing sync types and stores which ones the upstream accepted. A refused type does
 * not stop the next one. Returns `requested` or `failed: <reason>` for each.
 *
 * Each request reads the client twice: before it starts, and when only its write is left. A
 * registration stored in between has replaced the token, and may have begun an onboarding that
 * needs its syncs again. A registration stored during the second read may go unnoticed, so that the
 * request leaves with the old token. That is harmless: a sync belongs to the number, whichever
 * token requests it, and the registration requests its own.
 */
export async function syncCoexistence(
  { clients, clientSyncs, vault, upstream, now }: Dependencies,
  registered: Client,
  call: Call,
): Promise<Synced> {
  let client = registered;
  let failure: ApiError | undefined;
  const sync: SyncOutcomes = { smb_app_state_sync: 'requested', history: 'requested' };
  const change = async (fields: ClientChange): Promise<void> => {
    client = (await clientSyncs.change(client, fields)) ?? client;
  };
  const request = (type: SyncType): Promise<SyncAnswer> => {
    const sent = client;
    const { phone_number_id } = sent;
    const token = vault.open(secretIdentity(sent, 'token'), sent.token);
    const isCurrent = async (): Promise<boolean> => isSame(await clients.find(sent), sent);
    return requestSync(upstream, { phone_number_id, type, token, isCurrent }, call);
  };
  for (const type of TYPES) {
    let answer: SyncAnswer;
    let tries = 0;
    do {
      client = (await clients.find(client)) ?? client;
      answer = whyNot(client, type) ?? (await request(type));
      tries += 1;
    } while (answer.replaced && tries < REPLACED_MAX);
    sync[type] = answer.outcome;
    failure ??= answer.failure;
    if (answer.outcome !== 'requested' || client.sync_requested[type]) continue;
    await change({ sync_requested: { ...client.sync_requested, [type]: now() } });
  }
  if (client.sync_retry_at && missingSyncs(client).length === 0) {
    await change({ sync_retry_at: null });
  }
  return { client, sync, failure };
}

/** The outcome without a request; undefined if the sync is missing and can be requested. */
function whyNot(client: Client, type: SyncType): SyncAnswer | undefined {
  if (client.sync_requested[type]) return { outcome: 'requested' };
  if (client.status !== 'active') return { outcome: 'failed: the client was deleted' };
  if (client.is_on_biz_app) return undefined;
  return { outcome: 'failed: the number is not in use in the business app' };
}

/** True for the row whose token was opened: each registration seals its token again. */
const isSame = (row: Client | null, sent: Client): boolean =>
  row?.status === 'active' && isDeepStrictEqual(row.token, sent.token);

/** The outcome of a sync as facts for the onboarding log. */
export function syncFacts({ sync, failure }: Pick<Synced, 'sync' | 'failure'>): StepFacts {
  const failed = TYPES.filter((type) => sync[type] !== 'requested');
  if (failed.length === 0) return {};
  return {
    error_code: 'SYNC_FAILED',
    error_message: failed.map((type) => `${type} ${sync[type]}`).join('; '),
    upstream_session_id: failure?.upstream_trace_id,
  };
}
