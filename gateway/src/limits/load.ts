// Bounds the requests in flight, the memory of bodies and the bytes of answers of this replica.
// Each partner has a share of each, and requests without a known partner have a small pool. Beyond
// a bound a request gets 503 before it costs anything, so that those in flight still complete.
import { ApiError } from '@bmg/common/errors';
import { createPool, networkOf, type Pool } from '@bmg/common/overload';
import { metrics, type Logger } from '@bmg/common/telemetry';
import { createAnswerLimits, createRoom, type AnswerRoom } from './answers';
import { createFairQueue } from './fair-queue';
import { overloaded, rateLimited } from './rate-limited';

export type Load = ReturnType<typeof createLoad>;
/** The memory that one request's body takes. */
export type BodyMemory = Pick<AnswerRoom, 'reserve' | 'release'>;

export interface WaitingRequest {
  /** The size of the body that is not read yet; undefined if it is not known. */
  body_bytes: number | undefined;
  /** Aborted when the caller closes the connection. */
  gone: AbortSignal;
}

const MIB = 1024 * 1024;
/** Bodies of all requests in flight, including parsed and encoded copies. */
const BODY_MEMORY_MAX = 176 * MIB;
/** Reserved for small bodies of each partner, so that others do not crowd them out. */
const BODY_MEMORY_FLOOR = { of_holder: MIB / 8, max: 16 * MIB };
/** The pool of requests without a known partner; the share is that of a network. */
const OPEN_REQUESTS = {
  reason: 'open_requests',
  holder: 'network',
  max: 200,
  share: 0.25,
} as const;
/**
 * Requests to endpoints that the rate limit does not count: in flight and waiting, of all partners
 * and of one. Those that wait hold no place among the requests in flight.
 */
export const UNCOUNTED = {
  max: 400,
  of_holder_max: 20,
  waiting_max: 2_000,
  waiting_of_holder_max: 200,
  wait_ms: 5_000,
};
/** What the buffers of a request and its socket hold of a body that nothing reads. */
const UNREAD_BYTES_MAX = MIB / 8;
/** Open streams of one partner: each waits for events, as do the partner's own reads of the log. */
export const STREAM_SHARE = 6;
const STREAMS_MAX = 300;
const STREAMS = {
  reason: 'event_streams',
  max: STREAMS_MAX,
  share: STREAM_SHARE / STREAMS_MAX,
};
/** Further refusals wait a second: repeating without a pause gains nothing. */
export const REFUSALS_AT_ONCE = { burst: 30, per_s: 20 };
const RETRY_AFTER_S = 1;
const UNCOUNTED_RETRY_S = 5;
const SERVER = 'gateway';

export function createLoad(
  in_flight_max: number,
  log: Logger,
  { body_memory_max = BODY_MEMORY_MAX, wait_ms = UNCOUNTED.wait_ms } = {},
) {
  const of_partners = { server: SERVER, holder: 'partner' } as const;
  const requests = createPool({ ...of_partners, reason: 'requests', max: in_flight_max }, log);
  const bodies = createPool(
    { ...of_partners, reason: 'body_bytes', max: body_memory_max, floor: BODY_MEMORY_FLOOR },
    log,
  );
  const uncounted = createFairQueue({ ...UNCOUNTED, wait_ms });
  const streams = createPool({ ...of_partners, ...STREAMS }, log);
  const open = createPool({ server: SERVER, ...OPEN_REQUESTS }, log);
  return {
    ...createAnswerLimits(SERVER, log),
    /** Throws when the replica, or the partner's share, is full; returns how to leave. */
    enterPartner: (partner_id: string): (() => void) => enter(requests, partner_id),
    /**
     * For endpoints that the rate limit does not count. Returns how to leave; undefined when the
     * partner has as many of them in flight as it may.
     */
    enterUncounted: uncounted.enter,
    /**
     * Waits until the partner may have another of them in flight. Rejects if too many wait, if none
     * may in time, or if the caller has disconnected.
     */
    async waitUncounted(
      partner_id: string,
      { body_bytes = UNREAD_BYTES_MAX, gone }: WaitingRequest,
    ): Promise<() => void> {
      const unread = Math.min(body_bytes, UNREAD_BYTES_MAX);
      if (!bodies.take(partner_id, unread)) throw overloaded();
      try {
        const leave = await uncounted.wait(partner_id, gone);
        if (leave) return leave;
      } finally {
        bodies.give(partner_id, unread);
      }
      metrics.requests_shed.inc({ server: SERVER, reason: 'uncounted_requests' });
      throw new ApiError('SERVICE_UNAVAILABLE', TOO_MANY, { retry_after_s: UNCOUNTED_RETRY_S });
    },
    /**
     * For requests without a known partner: open routes, and look-ups of credentials. Throws when
     * their pool, or the share of the address's network, is full; returns how to leave.
     */
    enterOpen: (address: string): (() => void) => enter(open, networkOf(address)),
    /** For answers that stay open. Throws beyond the partner's share; returns how to leave. */
    enterStream(partner_id: string): () => void {
      if (!streams.take(partner_id)) throw rateLimited('streams', RETRY_AFTER_S, TOO_MANY_STREAMS);
      return () => streams.give(partner_id);
    },
    bodyMemory: (partner_id: string): BodyMemory => createRoom(bodies, partner_id),
  };
}

const TOO_MANY = `too many requests at a time: of the endpoints that do not count towards the rate limit, ${UNCOUNTED.of_holder_max} may be in flight, and others wait ${UNCOUNTED.wait_ms / 1_000} s for a place`;

const TOO_MANY_STREAMS = `too many live lists of events are open: at most ${STREAM_SHARE} of one partner`;

function enter(pool: Pool, holder: string): () => void {
  if (!pool.take(holder)) throw overloaded();
  return () => pool.give(holder);
}
