// A bounded resource that partners (or networks) share. Each holder has at most its share, so that one
// of them cannot use the resource up for all others.
import type { Logger } from '../telemetry';
import { createBound, type Bound } from './bound';

export interface Pool {
  /** False when the pool or the holder's share is used up. */
  take(holder: string, amount?: number): boolean;
  /** Takes beyond the bounds too, for items that are in memory already and cannot be refused. */
  force(holder: string, amount: number): void;
  give(holder: string, amount?: number): void;
}

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
  /**
   * Evicts something of this holder, or of any holder, for a new one. False if that is not
   * possible.
   */
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

export function createPool(
  { server, reason, holder: kind, max, share = SHARE, ...options }: PoolOptions,
  log: Logger,
): Pool {
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
    take(name, amount = 1) {
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
    force(name, amount) {
      const holder = holderOf(name);
      if (!keepApart(holder, amount)) {
        holder.bound.force(amount);
        whole.force(amount);
        holder.taken += amount;
      }
      holders.set(name, holder);
    },
    give(name, amount = 1) {
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
