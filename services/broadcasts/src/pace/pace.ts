// How fast a number may send. Nothing here does any I/O; the reservation itself is in redis-pace.ts.
import type { Credential } from '@bmg/common/directory';

/** Decisions, Broadcasts: what the upstream takes from one number in a second. */
export const COEXISTENCE_PER_SEC = 20;
export const STANDARD_PER_SEC = 80;
export const HIGH_PER_SEC = 1_000;
const HIGH = 'HIGH';

export const limitOf = ({
  is_on_biz_app,
  throughput_level,
}: Pick<Credential, 'is_on_biz_app' | 'throughput_level'>): number => {
  if (is_on_biz_app) return COEXISTENCE_PER_SEC;
  return throughput_level === HIGH ? HIGH_PER_SEC : STANDARD_PER_SEC;
};

/** What is reserved at once: this much time's worth of messages. What a crash leaves in doubt is about as much. */
const WINDOW_MS = 200;
/** Marking a batch must take less than sending it, or the next one would be late. */
const LEADS_PER_WINDOW = 1.5;

export const windowOf = (rate_per_sec: number, lead_ms = 0): number =>
  Math.max(1, Math.round((rate_per_sec * Math.max(WINDOW_MS, lead_ms * LEADS_PER_WINDOW)) / 1_000));

/** Sends whose answers are awaited: enough for an upstream that takes five seconds, and no more. */
const AWAITED_S = 5;
const IN_FLIGHT_MIN = 16;
const IN_FLIGHT_MAX = 2_000;

export const inFlightMax = (rate_per_sec: number): number =>
  Math.min(IN_FLIGHT_MAX, Math.max(IN_FLIGHT_MIN, Math.ceil(rate_per_sec * AWAITED_S)));

/** How long before its slot a contact is marked: twice what marking takes, within bounds. */
const LEAD_MIN_MS = 25;
const LEAD_MAX_MS = 800;
const SMOOTHING = 0.2;

/** Follows how long marking takes, so that a slow store delays nothing but the first message. */
export function createLead(): { ms(): number; took(ms: number): void } {
  let average = LEAD_MIN_MS / 2;
  return {
    ms: () => Math.min(LEAD_MAX_MS, Math.max(LEAD_MIN_MS, average * 2)),
    took: (ms) => (average += (ms - average) * SMOOTHING),
  };
}
