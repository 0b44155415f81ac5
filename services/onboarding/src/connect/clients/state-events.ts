// Applies events to clients: health, messaging limit, throughput, activity. Each change bumps the
// directory version after it is stored, so that caches go stale. A repeated event bumps it again,
// because a crash may have come between the two.
import type { Received } from '@bmg/common/bus';
import type { Event } from '@bmg/proto/stream';
import { WINDOW_MS } from '../sync';
import type { ClientFacts, Affected, FactEvent } from './store';
import { versionKeys, type Client, type ClientChange, type FactKind } from '../../ground/clients';
import type { Dependencies } from '../../dependencies';

interface Effect {
  kind: FactKind;
  change: ClientChange;
}

type Data = Record<string, unknown>;

/** At most one activity write per number in this time. */
const ACTIVITY_EVERY_MS = 60_000;
const TRACKED_NUMBERS_MAX = 100_000;
/** Replays of the past, which are no evidence of present activity. */
const NO_ACTIVITY = new Set(['message.history']);
/** Far above the phases that the upstream names (0 to 2). */
const PHASE_MAX = 1_000;
const PROGRESS_MAX = 100;
/** How the upstream spells a limit that is not set yet. */
const NO_LIMIT = 'TIER_NOT_SET';

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const wholeUpTo = (max: number, value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= max ? Math.floor(value) : undefined;

/** The number that the event names, or all numbers of the account if it names none. */
const affectedBy = ({ waba_id, phone_number_id }: Event): Affected =>
  phone_number_id === undefined ? { waba_id } : { phone_number_id };

/** The change that each event makes to clients; events without a row make none. */
const EFFECTS: Record<string, (data: Data, event: Event) => Effect | undefined> = {
  // Webhook offboarding: the number may not send until the platform has linked it again.
  offboarded: () => ({ kind: 'health', change: { health: 'paused' } }),
  reconnected: () => ({ kind: 'health', change: { health: 'connected' } }),
  // The business disconnected: only a new onboarding brings the number and its events back.
  partner_removed: (_data, { received_at_ms }) => ({
    kind: 'health',
    change: { health: 'paused', withdrawn_at: new Date(received_at_ms) },
  }),
  throughput(data) {
    const throughput_level = textOf(data['throughput_level']);
    return throughput_level === undefined
      ? undefined
      : { kind: 'throughput', change: { throughput_level } };
  },
  'waba.tier_updated': (data) => {
    const messaging_limit_tier = textOf(data['messaging_limit_tier']);
    if (messaging_limit_tier === undefined || messaging_limit_tier === NO_LIMIT) return undefined;
    return { kind: 'limit', change: { messaging_limit_tier } };
  },
};

/** `onRefreshDue` is called when a number's facts are due to be fetched again. */
export function applyStateEvents(deps: Dependencies & { onRefreshDue(this: void): void }) {
  const { clients, clientFacts, clientSyncs, numberDays, versions, now, onRefreshDue } = deps;
  const written = new Map<string, number>();

  const touch = async (batch: Event[]): Promise<void> => {
    const activity = new Map<string, Date>();
    for (const { internal, event, phone_number_id, timestamp } of batch) {
      if (internal || phone_number_id === undefined || NO_ACTIVITY.has(event)) continue;
      // A timestamp in the future would hide all activity before it.
      const at = Math.min(timestamp * 1_000, now().getTime());
      const last = written.get(phone_number_id);
      if (last !== undefined && at - last < ACTIVITY_EVERY_MS) continue;
      if (at > (activity.get(phone_number_id)?.getTime() ?? 0)) {
        activity.set(phone_number_id, new Date(at));
      }
    }
    if (activity.size === 0) return;
    await clientFacts.touch(activity);
    for (const [phone_number_id, at] of activity) remember(written, phone_number_id, at.getTime());
  };

  return async (batch: Received<Event>[]): Promise<void> => {
    const events = batch.map(({ message }) => message);
    const changed: Client[] = [];
    const limited: Client[] = [];
    for (const event of events) {
      const effect = EFFECTS[event.event]?.(readData(event), event);
      if (effect) {
        const rows = await clientFacts.apply(factEventOf(event, effect.kind), effect.change);
        changed.push(...rows);
        if (effect.kind === 'limit') limited.push(...rows);
      }
      if (event.event === 'history_sync') await advanceHistory(clientSyncs, event);
      if (event.event === 'partner_added') await learnBusiness(clientFacts, event);
      if (event.event === 'waba.quality_updated' && event.phone_number_id !== undefined) {
        // FLAGGED says that the rating fell but not to what, so the number's facts are fetched.
        await clientFacts.requestRefresh(event.phone_number_id, now());
        onRefreshDue();
      }
    }
    if (changed.length > 0) await versions.bump(versionKeys(changed));
    // Read again: an event that came late has changed nothing.
    if (limited.length > 0) await numberDays.record(await clients.findAll(limited), now());
    await touch(events);
  };
}

/** Moves the key to the end, so that eviction takes the number that was idle longest. */
function remember(written: Map<string, number>, phone_number_id: string, at: number): void {
  written.delete(phone_number_id);
  written.set(phone_number_id, at);
  if (written.size <= TRACKED_NUMBERS_MAX) return;
  const [oldest] = written.keys();
  if (oldest !== undefined) written.delete(oldest);
}

const factEventOf = (event: Event, kind: FactKind): FactEvent => ({
  affected: affectedBy(event),
  kind,
  at: new Date(event.timestamp * 1_000),
  received_at: new Date(event.received_at_ms),
});

/** Partners read the progress of the history; no cached answer has it. */
async function advanceHistory(clientSyncs: Dependencies['clientSyncs'], event: Event) {
  const { phone_number_id, received_at_ms } = event;
  if (phone_number_id === undefined) return;
  const { phase, progress, error_code, error_message } = readData(event);
  await clientSyncs.advance({
    phone_number_id,
    phase: wholeUpTo(PHASE_MAX, phase),
    progress: wholeUpTo(PROGRESS_MAX, progress),
    error:
      typeof error_code === 'number'
        ? { code: error_code, message: textOf(error_message) ?? 'the history is not shared' }
        : undefined,
    received_at: new Date(received_at_ms),
    latest_window: new Date(received_at_ms + WINDOW_MS),
  });
}

/** The sign-up confirmation is the only event that names the portfolio that owns the account. */
async function learnBusiness(clientFacts: ClientFacts, event: Event): Promise<void> {
  const info = readData(event)['waba_info'] as Data | undefined;
  const business_id = textOf(info?.['owner_business_id']);
  if (business_id !== undefined) await clientFacts.fillBusinessId(event.waba_id, business_id);
}

function readData({ data }: Event): Data {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Data) : {};
  } catch {
    return {};
  }
}
