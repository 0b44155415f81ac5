// What this replica takes on at once: requests in flight, memory of bodies. Each partner has a share of
// both, and requests that no partner answers for have a small pool. Beyond a bound a request gets 503
// before it costs anything, so that those in flight still complete.
import { ApiError } from '@bmg/common/errors';
import { createPool, type Pool } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';
import { networkOf } from './network';

export interface Load {
  /** Throws when the replica, or the partner's share of it, is full; returns how to leave. */
  enterPartner(partner_id: string): () => void;
  /**
   * For requests without a known partner: open routes, and look-ups of credentials. Throws when their
   * pool, or the share of the address's network, is full; returns how to leave.
   */
  enterOpen(address: string): () => void;
  bodyMemory(partner_id: string): BodyMemory;
}

/** The memory that one request's body takes. */
export interface BodyMemory {
  /** False when bodies take all the memory they may. */
  reserve(bytes: number): boolean;
  /** Returns all of it; nothing can be reserved afterwards. */
  release(): void;
}

/** Bodies of all requests in flight, with everything that is made of them. */
export const BODY_MEMORY_MAX = 192 * 1024 * 1024;
const OPEN_REQUESTS_MAX = 200;
const NETWORK_SHARE = 0.25;
const SERVER = 'gateway';

export function createLoad(
  in_flight_max: number,
  log: Logger,
  body_memory_max = BODY_MEMORY_MAX,
): Load {
  const of_partners = { server: SERVER, holder: 'partner' } as const;
  const requests = createPool({ ...of_partners, reason: 'requests', max: in_flight_max }, log);
  const bodies = createPool({ ...of_partners, reason: 'body_bytes', max: body_memory_max }, log);
  const open = createPool(
    {
      server: SERVER,
      reason: 'open_requests',
      holder: 'network',
      max: OPEN_REQUESTS_MAX,
      share: NETWORK_SHARE,
    },
    log,
  );
  return {
    enterPartner: (partner_id) => enter(requests, partner_id),
    enterOpen: (address) => enter(open, networkOf(address)),
    bodyMemory(partner_id) {
      let reserved = 0;
      let released = false;
      return {
        reserve(bytes) {
          if (released || !bodies.take(partner_id, bytes)) return false;
          reserved += bytes;
          return true;
        },
        release() {
          released = true;
          bodies.give(partner_id, reserved);
          reserved = 0;
        },
      };
    },
  };
}

function enter(pool: Pool, holder: string): () => void {
  if (!pool.take(holder)) throw overloaded();
  return () => pool.give(holder);
}

export const overloaded = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'too many requests are in flight: try again');
