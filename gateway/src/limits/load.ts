// What this replica takes on at once: requests in flight, requests of one partner, body bytes in memory.
// Beyond a bound a request gets 503 before it costs anything, so that those in flight still complete.
import { ApiError } from '@bmg/common/errors';
import { createBound, type Bound } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';

export interface Load {
  /** Throws when the replica is full; returns how to leave. */
  enterReplica(): () => void;
  /** Throws when the partner has its share of the replica in flight; returns how to leave. */
  enterPartner(partner_id: string): () => void;
  bodyMemory(): BodyMemory;
}

/** The memory that one request's body takes. */
export interface BodyMemory {
  /** Called for each chunk that arrives; false when bodies take all the memory they may. */
  reserve(bytes: number): boolean;
  /** Returns all of it. */
  release(): void;
}

/** Bodies of all requests in flight; a parsed body takes several times as much. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** A partner whose upstream is slow must not fill the replica for all others. */
const PARTNER_SHARE = 0.5;
const SERVER = 'gateway';

export function createLoad(
  in_flight_max: number,
  log: Logger,
  body_bytes_max = BODY_BYTES_MAX,
): Load {
  const requests = createBound({ server: SERVER, reason: 'requests', max: in_flight_max }, log);
  const bodies = createBound({ server: SERVER, reason: 'body_bytes', max: body_bytes_max }, log);
  const partner_max = Math.max(1, Math.floor(in_flight_max * PARTNER_SHARE));
  const partners = new Map<string, { bound: Bound; in_flight: number }>();
  return {
    enterReplica() {
      if (!requests.take()) throw overloaded();
      return () => requests.give();
    },
    enterPartner(partner_id) {
      let partner = partners.get(partner_id);
      if (!partner) {
        const of = { server: SERVER, reason: 'requests_of_partner', max: partner_max };
        partner = { bound: createBound(of, log), in_flight: 0 };
        partners.set(partner_id, partner);
      }
      const entered = partner;
      if (!entered.bound.take()) throw overloaded();
      entered.in_flight += 1;
      return () => {
        entered.bound.give();
        entered.in_flight -= 1;
        if (entered.in_flight === 0) partners.delete(partner_id);
      };
    },
    bodyMemory() {
      let reserved = 0;
      return {
        reserve(bytes) {
          const taken = bodies.take(bytes);
          if (taken) reserved += bytes;
          return taken;
        },
        release: () => bodies.give(reserved),
      };
    },
  };
}

export const overloaded = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'too many requests are in flight: try again');
