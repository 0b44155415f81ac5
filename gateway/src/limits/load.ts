// Bounds the requests in flight, the memory of bodies and the bytes of answers of this replica.
// Each partner has a share of each, and requests without a known partner have a small pool. Beyond
// a bound a request gets 503 before it costs anything, so that those in flight still complete.
import { createPool, networkOf, type Pool } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';
import { createAnswerLimits, type AnswerLimits } from './answers';
import { overloaded } from './overloaded';
import { rateLimited } from './rate-limited';

export interface Load extends AnswerLimits {
  /**
   * Throws when the replica, or the partner's share of it, is full; returns a function that leaves.
   */
  enterPartner(partner_id: string): () => void;
  /**
   * For endpoints that the rate limit does not count. Throws when the partner has as many of them
   * in flight as it may; returns a function that leaves.
   */
  enterUncounted(partner_id: string): () => void;
  /**
   * For requests without a known partner: open routes, and look-ups of credentials. Throws when
   * their pool, or the share of the address's network, is full; returns a function that leaves.
   */
  enterOpen(address: string): () => void;
  /**
   * For answers that stay open. Throws beyond the partner's share of them; returns a function that
   * leaves.
   */
  enterStream(partner_id: string): () => void;
  bodyMemory(partner_id: string): BodyMemory;
}

/** The memory that one request's body takes. */
export interface BodyMemory {
  /** False when bodies take all the memory they may. */
  reserve(bytes: number): boolean;
  /** Returns all of it; nothing can be reserved afterwards. */
  release(): void;
}

const MIB = 1024 * 1024;
/** Bodies of all requests in flight, including parsed and encoded copies. */
const BODY_MEMORY_MAX = 176 * MIB;
/**
 * Reserved for small bodies of each partner, so that large bodies of others do not crowd them out.
 */
const BODY_MEMORY_FLOOR = { of_holder: MIB / 8, max: 16 * MIB };
const OPEN_REQUESTS_MAX = 200;
/** Requests in flight to endpoints that the rate limit does not count, of all partners. */
const UNCOUNTED_MAX = 400;
/** One partner's share of them. */
export const UNCOUNTED_SHARE = 20;
const STREAMS_MAX = 300;
/** Open streams of one partner: each waits for events, as do the partner's own reads of the log. */
export const STREAM_SHARE = 6;
/**
 * Refusals that are answered at once; others wait a second: repeating without a pause gains
 * nothing.
 */
export const REFUSALS_AT_ONCE = { burst: 30, per_s: 20 };
const RETRY_AFTER_S = 1;
const NETWORK_SHARE = 0.25;
const SERVER = 'gateway';

export function createLoad(
  in_flight_max: number,
  log: Logger,
  body_memory_max = BODY_MEMORY_MAX,
): Load {
  const of_partners = { server: SERVER, holder: 'partner' } as const;
  const requests = createPool({ ...of_partners, reason: 'requests', max: in_flight_max }, log);
  const bodies = createPool(
    { ...of_partners, reason: 'body_bytes', max: body_memory_max, floor: BODY_MEMORY_FLOOR },
    log,
  );
  const uncounted = createPool(
    {
      ...of_partners,
      reason: 'uncounted_requests',
      max: UNCOUNTED_MAX,
      share: UNCOUNTED_SHARE / UNCOUNTED_MAX,
    },
    log,
  );
  const streams = createPool(
    {
      ...of_partners,
      reason: 'event_streams',
      max: STREAMS_MAX,
      share: STREAM_SHARE / STREAMS_MAX,
    },
    log,
  );
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
    ...createAnswerLimits(SERVER, log),
    enterPartner: (partner_id) => enter(requests, partner_id),
    enterUncounted(partner_id) {
      if (!uncounted.take(partner_id)) throw rateLimited('uncounted', RETRY_AFTER_S, TOO_MANY);
      return () => uncounted.give(partner_id);
    },
    enterOpen: (address) => enter(open, networkOf(address)),
    enterStream(partner_id) {
      if (!streams.take(partner_id)) throw rateLimited('streams', RETRY_AFTER_S, TOO_MANY_STREAMS);
      return () => streams.give(partner_id);
    },
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

const TOO_MANY = `too many requests at a time: of the endpoints that do not count towards the rate limit, ${UNCOUNTED_SHARE} may be in flight`;

const TOO_MANY_STREAMS = `too many live lists of events are open: at most ${STREAM_SHARE} of one partner`;

function enter(pool: Pool, holder: string): () => void {
  if (!pool.take(holder)) throw overloaded();
  return () => pool.give(holder);
}
