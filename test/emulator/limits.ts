// The platform's limits on sends: the throughput of a number, which is on by default, and the
// 24-hour window, which the control interface switches on.
import { upstreamError } from './errors';
import type { BusinessNumber } from './types';

const COEXISTENCE_RATE = 20;
const STANDARD_RATE = 80;
const HIGH_RATE = 1000;
export const WINDOW_MS = 24 * 3600 * 1000;

/** `refuse` returns 131047; `fail_later` accepts the send and reports a failed status. */
export type WindowCheck = 'off' | 'refuse' | 'fail_later';

export interface LimitSettings {
  /** Overrides the rate of every number; 0 switches the limiter off, null restores the defaults. */
  rate_per_sec: number | null;
  window_check: WindowCheck;
}

function defaultLimits(): LimitSettings {
  return {
    rate_per_sec: null,
    window_check: 'off',
  };
}

interface Bucket {
  tokens: number;
  at: number;
}

export class Limits {
  settings = defaultLimits();
  private readonly rates = new Map<string, Bucket>();

  reset(): void {
    this.settings = defaultLimits();
    this.rates.clear();
  }

  rateOf(number: BusinessNumber): number {
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
