// The platform's limits on sends: the throughput of a number, which is on by default, and the
// 24-hour window, which the control interface switches on.
import { upstreamError, type UpstreamError } from './errors';
import type { BusinessNumber } from './types';

const COEXISTENCE_RATE = 20;
const STANDARD_RATE = 80;
const HIGH_RATE = 1000;
export const WINDOW_MS = 24 * 3600 * 1000;

const defaultLimits = () => ({
  /** Overrides the rate of every number; 0 switches the limiter off, null restores the defaults. */
  rate_per_sec: null as number | null,
  /** `refuse` returns 131047; `fail_later` accepts the send and reports a failed status. */
  window_check: 'off' as 'off' | 'refuse' | 'fail_later',
});

/** Throws the refusal if `max` of the times are not older than `age_ms`. */
export function requireRoom(
  times: readonly number[],
  max: number,
  age_ms: number,
  refusal: UpstreamError,
): void {
  const since = Date.now() - age_ms;
  if (times.filter((at) => at > since).length >= max) throw refusal;
}

export class Limits {
  settings = defaultLimits();
  private readonly rates = new Map<string, { tokens: number; at: number }>();

  reset(): void {
    this.settings = defaultLimits();
    this.rates.clear();
  }

  private rateOf(number: BusinessNumber): number {
    if (this.settings.rate_per_sec !== null) return this.settings.rate_per_sec;
    if (number.is_on_biz_app) return COEXISTENCE_RATE;
    return number.throughput_level === 'HIGH' ? HIGH_RATE : STANDARD_RATE;
  }

  /** Throws 130429. A refused send does not count. */
  take(number: BusinessNumber): void {
    const rate = this.rateOf(number);
    if (rate > 0 && !this.draw(number.id, rate)) {
      throw upstreamError(
        130429,
        `Message failed to send because more than ${rate} messages a second were sent from this number`,
      );
    }
  }

  /** Token bucket: holds the tokens of a second. */
  private draw(id: string, rate: number): boolean {
    const now = performance.now();
    const { tokens, at } = this.rates.get(id) ?? { tokens: rate, at: now };
    const filled = Math.min(rate, tokens + ((now - at) / 1000) * rate);
    const drawn = filled >= 1;
    this.rates.set(id, { tokens: drawn ? filled - 1 : filled, at: now });
    return drawn;
  }
}
