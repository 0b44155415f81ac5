// How fast a number may send. No I/O: slots are reserved in redis-pace.ts.
import type { Credential } from '@bmg/common/directory';

/** Contract 9.4: messages per second that the upstream takes from one number. */
const COEXISTENCE_PER_SEC = 20;
const STANDARD_PER_SEC = 80;
const HIGH_PER_SEC = 1_000;
const HIGH = 'HIGH';

export const limitOf = ({
  is_on_biz_app,
  throughput_level,
}: Pick<Credential, 'is_on_biz_app' | 'throughput_level'>): number => {
  if (is_on_biz_app) return COEXISTENCE_PER_SEC;
  return throughput_level === HIGH ? HIGH_PER_SEC : STANDARD_PER_SEC;
};

const PERCENT = 100;

/** Messages per second that broadcasts may use of a number. */
export const broadcastRate = (limit_per_sec: number, share_percent: number): number =>
  (limit_per_sec * share_percent) / PERCENT;

const SECOND_MS = 1_000;

/** When the last of some contacts has left, the first leaving at `from`. */
export const lastLeavesAt = (from: Date, contacts: number, rate_per_sec: number): Date =>
  new Date(from.getTime() + (contacts / rate_per_sec) * SECOND_MS);

/** The messages of this much time are reserved at once. A crash leaves about as many in doubt. */
const WINDOW_MS = 200;
/** Marking a batch must take less time than sending it, or the next batch would be late. */
const LEADS_PER_WINDOW = 1.5;

/** How many pace slots one batch reserves. */
export const windowOf = (rate_per_sec: number, lead_ms = 0): number =>
  Math.max(1, Math.round((rate_per_sec * Math.max(WINDOW_MS, lead_ms * LEADS_PER_WINDOW)) / 1_000));

/** Sends in flight are limited to what an upstream that answers after five seconds needs. */
const AWAITED_S = 5;
const IN_FLIGHT_MIN = 16;
const IN_FLIGHT_MAX = 2_000;

export const inFlightMax = (rate_per_sec: number): number =>
  Math.min(IN_FLIGHT_MAX, Math.max(IN_FLIGHT_MIN, Math.ceil(rate_per_sec * AWAITED_S)));

/**
 * How long before its slot a contact is marked: twice the time that marking takes, within bounds.
 */
const LEAD_MIN_MS = 25;
const LEAD_MAX_MS = 800;
const SMOOTHING = 0.2;

/** Follows the time that marking takes, so that a slow store delays only the first message. */
export function createLead(): { ms(): number; took(ms: number): void } {
  let average = LEAD_MIN_MS / 2;
  return {
    ms: () => Math.min(LEAD_MAX_MS, Math.max(LEAD_MIN_MS, average * 2)),
    took: (ms) => (average += (ms - average) * SMOOTHING),
  };
}
