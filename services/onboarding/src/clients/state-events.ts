// Events → clients: health, limits, throughput, activity. Every change is announced after it was stored,
// so that caches forget; an event that comes again announces again, since a crash may have come between.
import type { Received } from '@bmg/common/bus';
import { partnerVersionKey, wabaVersionKey, type Versions } from '@bmg/common/directory';
import type { Event } from '@bmg/proto/stream';
import type { ClientEvents, Concerned, Happening } from '../store/client-facts';
import type { Client, ClientChange, FactKind } from '../store/clients';

export interface StateDependencies {
  clientEvents: ClientEvents;
  versions: Versions;
  now: () => Date;
  /** Told when a number's facts are due to be fetched again. */
  onRefreshDue(): void;
}

interface Effect {
  kind: FactKind;
  change: ClientChange;
  concerned: Concerned;
}

type Data = Record<string, unknown>;

/** At most one write a number in this time. */
const ACTIVITY_EVERY_MS = 60_000;
const NUMBERS_REMEMBERED = 100_000;
/** Replayed from long ago: no activity of now. */
const NO_ACTIVITY = new Set(['message.history']);
/** The upstream's word for a limit that is not set yet. */
const NO_LIMIT = 'TIER_NOT_SET';

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** One number where the event names it; else, since upstream named none, all of the account. */
const concernedBy = ({ waba_id, phone_number_id }: Event): Concerned =>
  phone_number_id === undefined ? { waba_id } : { phone_number_id };

/** What each event means for clients; an event without a row means nothing. */
const EFFECTS: Record<string, (data: Data, event: Event) => Effect | undefined> = {
  // Webhook offboarding: the number may not send until the platform has linked it again.
  offboarded: (_data, event) => health('paused', event),
  reconnected: (_data, event) => health('connected', event),
  // The business disconnected: only a new onboarding brings the number back.
  partner_removed: (_data, event) => health('paused', event),
  throughput(data, event) {
    const throughput_level = textOf(data['throughput_level']);
    if (throughput_level === undefined) return undefined;
    return { kind: 'throughput', change: { throughput_level }, concerned: concernedBy(event) };
  },
  'waba.tier_updated': (data, event) => {
    const messaging_limit_tier = textOf(data['messaging_limit_tier']);
    if (messaging_limit_tier === undefined || messaging_limit_tier === NO_LIMIT) return undefined;
    return { kind: 'limit', change: { messaging_limit_tier }, concerned: concernedBy(event) };
  },
};

const health = (state: Client['health'], event: Event): Effect => ({
  kind: 'health',
  change: { health: state },
  concerned: concernedBy(event),
});

export function applyStateEvents(deps: StateDependencies) {
  const { clientEvents, versions, now, onRefreshDue } = deps;
  const written = new Map<string, number>();

  const touch = async (batch: Event[]): Promise<void> => {
    const activity = new Map<string, Date>();
    for (const { internal, event, phone_number_id, timestamp } of batch) {
      if (internal || phone_number_id === undefined || NO_ACTIVITY.has(event)) continue;
      // A time to come would hide all activity before it.
      const at = Math.min(timestamp * 1_000, now().getTime());
      const last = written.get(phone_number_id);
      if (last !== undefined && at - last < ACTIVITY_EVERY_MS) continue;
      if (at > (activity.get(phone_number_id)?.getTime() ?? 0)) {
        activity.set(phone_number_id, new Date(at));
      }
    }
    if (activity.size === 0) return;
    await clientEvents.touch(activity);
    for (const [phone_number_id, at] of activity) remember(written, phone_number_id, at.getTime());
  };

  return async (batch: Received<Event>[]): Promise<void> => {
    const events = batch.map(({ message }) => message);
    const changed: Client[] = [];
    for (const event of events) {
      const effect = EFFECTS[event.event]?.(readData(event), event);
      if (effect)
        changed.push(...(await clientEvents.apply(happeningOf(event, effect), effect.change)));
      if (event.event === 'partner_added') await learnBusiness(clientEvents, event);
      if (event.event === 'waba.quality_updated' && event.phone_number_id !== undefined) {
        // FLAGGED says that the rating has fallen, not to what: the number itself is asked.
        await clientEvents.requestRefresh(event.phone_number_id, now());
        onRefreshDue();
      }
    }
    if (changed.length > 0) await versions.bump(versionKeys(changed));
    await touch(events);
  };
}

/** Sets the key and moves it to the end, so that what goes first was untouched longest. */
function remember(written: Map<string, number>, phone_number_id: string, at: number): void {
  written.delete(phone_number_id);
  written.set(phone_number_id, at);
  if (written.size <= NUMBERS_REMEMBERED) return;
  const [oldest] = written.keys();
  if (oldest !== undefined) written.delete(oldest);
}

const happeningOf = (event: Event, { kind, concerned }: Effect): Happening => ({
  concerned,
  kind,
  at: new Date(event.timestamp * 1_000),
  received_at: new Date(event.received_at_ms),
});

export const versionKeys = (clients: Client[]): string[] => [
  ...new Set(
    clients.flatMap(({ partner_id, waba_id }) => [
      partnerVersionKey(partner_id),
      wabaVersionKey(waba_id),
    ]),
  ),
];

/** The confirmation of a sign-up is the only event that names the portfolio that owns the account. */
async function learnBusiness(clientEvents: ClientEvents, event: Event): Promise<void> {
  const info = readData(event)['waba_info'] as Data | undefined;
  const business_id = textOf(info?.['owner_business_id']);
  if (business_id !== undefined) await clientEvents.fillBusinessId(event.waba_id, business_id);
}

function readData({ data }: Event): Data {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Data) : {};
  } catch {
    return {};
  }
}
