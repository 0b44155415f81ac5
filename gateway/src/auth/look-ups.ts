// Look-ups of credentials that this replica does not know: keys, connect tokens, cookies. Anyone
// can cause one and each costs an RPC and a query, so that refusals are remembered for a short
// time, and a network with many of them gets no further ones.
import { LRUCache } from '@bmg/common/cache';
import { ApiError } from '@bmg/common/errors';
import { networkOf } from '@bmg/common/overload';
import type { Load } from '../limits/load';
import { rateLimited } from '../limits/rate-limited';

/** A credential that is refused now becomes valid at the earliest after this time. */
const REMEMBERED_MS = 5_000;
const REMEMBERED_MAX = 50_000;
/** Refused look-ups of one network in a window. Cached callers are not affected. */
export const REFUSALS_MAX = 100;
const WINDOW_S = 10;
const NETWORKS_MAX = 50_000;

export type LookUps = ReturnType<typeof createLookUps>;

export function createLookUps(load: Pick<Load, 'enterOpen'>) {
  const refused = new LRUCache<string, ApiError>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS });
  const networks = new LRUCache<string, { refusals: number }>({
    max: NETWORKS_MAX,
    ttl: WINDOW_S * 1_000,
  });
  /** Remembers the refusal of a credential, without limiting the network that sent it. */
  const remember = (credential: string, refusal: unknown): boolean => {
    const is_refusal = refusal instanceof ApiError && refusal.http === 401;
    if (is_refusal) refused.set(credential, refusal);
    return is_refusal;
  };
  return {
    remember,
    /** Looks a hashed credential up, unless its answer is known or the network is limited. */
    async run<T>(credential: string, address: string, look: () => Promise<T>): Promise<T> {
      const known = refused.get(credential);
      if (known) throw known;
      const name = networkOf(address);
      const network = networks.get(name) ?? { refusals: 0 };
      if (network.refusals >= REFUSALS_MAX) throw rateLimited('credentials', WINDOW_S);
      const leave = load.enterOpen(address);
      try {
        return await look();
      } catch (error) {
        if (remember(credential, error)) {
          network.refusals += 1;
          if (network.refusals === 1) networks.set(name, network);
        }
        throw error;
      } finally {
        leave();
      }
    },
  };
}
