// The platform's limits on sends: the throughput of a number, the pair rate to one customer, and
// the 24-hour window. The first is on by default; the control interface switches on the other two.
import { upstreamError } from './errors';
import type { BusinessNumber, JsonObject } from './types';

const COEXISTENCE_RATE = 20;
const STANDARD_RATE = 80;
const HIGH_RATE = 1000;
export const WINDOW_MS = 24 * 3600 * 1000;
const PAIRS_MAX = 200_000;

/** `refuse` returns 131047; `fail_later` accepts the send and reports a failed status. */
export type WindowCheck = 'off' | 'refuse' | 'fail_later';

export interface LimitSettings {
  /** Overrides the rate of every number; 0 switches the limiter off, null restores the defaults. */
  rate_per_sec: number | null;
  pair: { enabled: boolean; interval_ms: number; burst: number };
  window_check: WindowCheck;
  media_url_ttl_ms: number;
  max_code_requests: number;
}

function defaultLimits(): LimitSettings {
  return {
    rate_per_sec: null,
    pair: { enabled: false, interval_ms: 6000, burst: 45 },
    window_check: 'off',
    media_url_ttl_ms: 5 * 60 * 1000,
    max_code_requests: 5,
  };
}

interface Bucket {
  tokens: number;
  at: number;
}

export class Limits {
  settings = defaultLimits();
  private readonly rates = new Map<string, Bucket>();
  private readonly pairs = new Map<string, Bucket>();

  reset(): void {
    this.settings = defaultLimits();
    this.rates.clear();
    this.pairs.clear();
  }

  rateOf(number: BusinessNumber): number {
    if (number.rate_per_sec !== null) return number.rate_per_sec;
    if (this.settings.rate_per_sec !== null) return this.settings.rate_per_sec;
    if (number.is_on_biz_app) return COEXISTENCE_RATE;
    return number.throughput_level === 'HIGH' ? HIGH_RATE : STANDARD_RATE;
  }

  /** Throws 131056 or 130429. A refused send does not count towards a limit. */
  take(number: BusinessNumber, peer: string, now = performance.now()): void {
    const { pair } = this.settings;
    if (pair.enabled) {
      const key = `${number.id}:${peer}`;
      if (!draw(this.pairs, key, 1000 / pair.interval_ms, pair.burst, now)) {
        throw upstreamError(131056, 'Too many messages to this recipient in a short time');
      }
      if (this.pairs.size > PAIRS_MAX) this.pairs.delete(this.pairs.keys().next().value as string);
    }
    const rate = this.rateOf(number);
    if (rate > 0 && !draw(this.rates, number.id, rate, rate, now)) {
      throw upstreamError(
        130429,
        `Message failed to send because more than ${rate} messages a second were sent from this number`,
      );
    }
  }

  describe(): JsonObject {
    return { ...this.settings };
  }
}

/** Token bucket: holds at most `burst` tokens, refilled at `rate` per second. */
function draw(
  buckets: Map<string, Bucket>,
  key: string,
  rate: number,
  burst: number,
  now: number,
): boolean {
  const bucket = buckets.get(key);
  if (!bucket) {
    buckets.set(key, { tokens: burst - 1, at: now });
    return true;
  }
  bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * rate);
  bucket.at = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}
