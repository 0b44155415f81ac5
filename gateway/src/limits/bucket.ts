// The token bucket of a partner: `rate` tokens a second, and a burst of one second.
export interface RateLimitResult {
  allowed: boolean;
  /** A token was requested; false when only the version was read. */
  asked: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  reset_s: number;
  /** Seconds until a refused request can be repeated; at least 1. */
  retry_after_s: number;
  /** The partner's directory version; undefined while Redis is down. */
  version: string | undefined;
}

export interface Bucket {
  /**
   * Takes a token; with `cost` 0, or when the directory version is not `at_version`, it only reads
   * the version.
   */
  take(
    partner_id: string,
    rate: number,
    cost: 0 | 1,
    at_version?: string,
  ): Promise<RateLimitResult>;
}

/** The result of a request for a token to a bucket that holds `tokens` after it. */
export const rateLimitResult = (
  tokens: number,
  rate: number,
  allowed: boolean,
  version: string | undefined,
): RateLimitResult => ({
  allowed,
  asked: true,
  remaining: Math.max(0, Math.floor(tokens)),
  reset_s: Math.max(0, Math.ceil((rate - tokens) / rate)),
  retry_after_s: Math.max(1, Math.ceil((1 - tokens) / rate)),
  version,
});

/** The result of reading only the version. */
export const versionOnly = (rate: number, version: string | undefined): RateLimitResult => ({
  ...rateLimitResult(rate, rate, true, version),
  asked: false,
});
