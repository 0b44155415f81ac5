// Bounds on concurrent work, whole or shared by holders. Beyond one, requests are refused unread,
// so that an overloaded process answers some requests well instead of all of them late.
import { metrics, type Logger } from '../telemetry';

export type Bound = ReturnType<typeof createBound>;

const SAY_EVERY_MS = 10_000;

/** `reason` names the bounded resource: requests, bytes. */
export function createBound(of: { server: string; reason: string; max: number }, log: Logger) {
  const { max, ...labels } = of;
  let in_flight = 0;
  let refused = 0;
  let said_at = -Infinity;
  const refuse = (): false => {
    metrics.requests_shed.inc(labels);
    refused += 1;
    const now = performance.now();
    if (now - said_at >= SAY_EVERY_MS) {
      log.warn({ ...of, refused }, 'overloaded: refusing requests');
      said_at = now;
      refused = 0;
    }
    return false;
  };
  return {
    /** False beyond the bound; every refusal is counted, and logged at most every ten seconds. */
    take(amount = 1): boolean {
      // A single request is always accepted, or a large one would be refused for ever.
      if (in_flight > 0 && in_flight + amount > max) return refuse();
      in_flight += amount;
      return true;
    },
    /** Takes beyond the bound too, for items that are in memory already and cannot be refused. */
    force(amount: number): void {
      in_flight += amount;
    },
    give(amount = 1): void {
      in_flight -= amount;
    },
  };
}

export type Pool = ReturnType<typeof createPool>;

export interface PoolOptions {
  server: string;
  /** Names the resource in metrics; refusals of one holder are counted as `<reason>_of_<holder>`. */
  reason: string;
  holder: 'partner' | 'network';
  max: number;
  /** The part of the pool that one holder may have. Defaults to half of it. */
  share?: number;
  /** The first units of each holder, counted separately: other holders cannot use them up. */
  floor?: { of_holder: number; max: number };
  /** Evicts something of this holder, or of any, for a new one. False if it cannot. */
  makeRoom?: (holder?: string) => boolean;
}

const SHARE = 0.5;
const NO_FLOOR = { of_holder: 0, max: 0 };

interface Holder {
  bound: Bound;
  /** Units taken from the pool, within the holder's share. */
  taken: number;
  /** Units taken from the holder's floor. */
  apart: number;
}

/** A bounded resource. Each holder has at most its share, so that it cannot use up all of it. */
export function createPool(options: PoolOptions, log: Logger) {
  const pool = createShares(options, log);
  return {
    ...pool,
    /** Holds `amount` while the work runs. Throws the refusal where `take` would be false. */
    async run<T>(
      name: string,
      refusal: () => Error,
      work: () => Promise<T>,
      amount = 1,
    ): Promise<T> {
      if (!pool.take(name, amount)) throw refusal();
      try {
        return await work();
      } finally {
        pool.give(name, amount);
      }
    },
  };
}

function createShares(
  { server, reason, holder: kind, max, share = SHARE, ...options }: PoolOptions,
  log: Logger,
) {
  const { floor = NO_FLOOR, makeRoom = () => false } = options;
  const whole = createBound({ server, reason, max }, log);
  const of_holder = {
    server,
    reason: `${reason}_of_${kind}`,
    max: Math.max(1, Math.floor(max * share)),
  };
  const holders = new Map<string, Holder>();
  let all_apart = 0;
  const keepApart = (holder: Holder, amount: number): boolean => {
    const fits = holder.apart + amount <= floor.of_holder && all_apart + amount <= floor.max;
    if (!fits) return false;
    holder.apart += amount;
    all_apart += amount;
    return true;
  };
  const holderOf = (name: string): Holder =>
    holders.get(name) ?? { bound: createBound(of_holder, log), taken: 0, apart: 0 };
  return {
    /** False when the pool or the holder's share is used up. */
    take(name: string, amount = 1): boolean {
      const holder = holderOf(name);
      if (keepApart(holder, amount)) {
        holders.set(name, holder);
        return true;
      }
      while (!holder.bound.take(amount)) if (!makeRoom(name)) return false;
      while (!whole.take(amount)) {
        if (makeRoom()) continue;
        holder.bound.give(amount);
        return false;
      }
      holder.taken += amount;
      holders.set(name, holder);
      return true;
    },
    /** Takes beyond the bounds too, for items that are in memory already and cannot be refused. */
    force(name: string, amount: number): void {
      const holder = holderOf(name);
      if (!keepApart(holder, amount)) {
        holder.bound.force(amount);
        whole.force(amount);
        holder.taken += amount;
      }
      holders.set(name, holder);
    },
    give(name: string, amount = 1): void {
      const holder = holders.get(name);
      if (!holder) return;
      const of_pool = Math.min(amount, holder.taken);
      whole.give(of_pool);
      holder.bound.give(of_pool);
      holder.taken -= of_pool;
      holder.apart -= amount - of_pool;
      all_apart -= amount - of_pool;
      if (holder.taken + holder.apart <= 0) holders.delete(name);
    },
  };
}
