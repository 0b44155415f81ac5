// A token bucket per partner: `rate` tokens a second, a burst of one second.
export interface Taken {
  allowed: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  reset_s: number;
  /** Seconds until a refused request can be repeated; at least 1. */
  retry_after_s: number;
  /** The partner's directory version; undefined while the shared store is away. */
  version: string | undefined;
}

export interface Bucket {
  /** `cost` 0 asks for the version alone. */
  take(partner_id: string, rate: number, cost: 0 | 1): Promise<Taken>;
}

export const taken = (
  tokens: number,
  rate: number,
  allowed: boolean,
  version: string | undefined,
): Taken => ({
  allowed,
  remaining: Math.max(0, Math.floor(tokens)),
  reset_s: Math.max(0, Math.ceil((rate - tokens) / rate)),
  retry_after_s: Math.max(1, Math.ceil((1 - tokens) / rate)),
  version,
});
