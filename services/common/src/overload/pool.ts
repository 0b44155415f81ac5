// A bounded resource that partners (or networks) share. Each holder has at most its share, so that one
// of them cannot use the resource up for all others.
import type { Logger } from '../telemetry';
import { createBound, type Bound } from './bound';

export interface Pool {
  /** False when the pool or the holder's share is used up. */
  take(holder: string, amount?: number): boolean;
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
  /** Gives back something of this holder, or of any, for a new one. False if that is not possible. */
  makeRoom?: (holder?: string) => boolean;
}

const SHARE = 0.5;

export function createPool(
  { server, reason, holder: kind, max, share = SHARE, makeRoom = () => false }: PoolOptions,
  log: Logger,
): Pool {
  const whole = createBound({ server, reason, max }, log);
  const of_holder = {
    server,
    reason: `${reason}_of_${kind}`,
    max: Math.max(1, Math.floor(max * share)),
  };
  const holders = new Map<string, { bound: Bound; taken: number }>();
  return {
    take(name, amount = 1) {
      const holder = holders.get(name) ?? { bound: createBound(of_holder, log), taken: 0 };
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
    give(name, amount = 1) {
      whole.give(amount);
      const holder = holders.get(name);
      if (!holder) return;
      holder.bound.give(amount);
      holder.taken -= amount;
      if (holder.taken <= 0) holders.delete(name);
    },
  };
}
