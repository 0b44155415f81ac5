// What this replica takes on at once. Past it a request is answered 503 before it costs anything, so that
// those under way end well: memory is never the limit. One partner has half of it at the most, or a slow
// upstream behind one partner's sends would be everybody's outage.
import { ApiError } from '@bmg/common/errors';
import { createBound, type Bound } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';

export interface Load {
  /** Throws when the replica is full; answers how to leave. */
  enter(): () => void;
  /** The same for one partner's part of it. */
  enterAs(partner_id: string): () => void;
  /** Room for a body, bit by bit as it comes in; given back all at once. */
  body(): { hold(bytes: number): void; release(): void };
}

/** Bodies in memory, of all requests together; parsed they take several times as much. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
const PARTNER_PART = 0.5;
const SERVER = 'gateway';

export function createLoad(
  in_flight_max: number,
  log: Logger,
  body_bytes_max = BODY_BYTES_MAX,
): Load {
  const requests = createBound({ server: SERVER, reason: 'requests', max: in_flight_max }, log);
  const bodies = createBound({ server: SERVER, reason: 'body_bytes', max: body_bytes_max }, log);
  const partner_max = Math.max(1, Math.floor(in_flight_max * PARTNER_PART));
  const partners = new Map<string, { bound: Bound; under_way: number }>();
  return {
    enter() {
      if (!requests.take()) throw full();
      return () => requests.give();
    },
    enterAs(partner_id) {
      let partner = partners.get(partner_id);
      if (!partner) {
        const of = { server: SERVER, reason: 'requests_of_partner', max: partner_max };
        partner = { bound: createBound(of, log), under_way: 0 };
        partners.set(partner_id, partner);
      }
      const entered = partner;
      if (!entered.bound.take()) throw full();
      entered.under_way += 1;
      return () => {
        entered.bound.give();
        entered.under_way -= 1;
        if (entered.under_way === 0) partners.delete(partner_id);
      };
    },
    body() {
      let held = 0;
      return {
        hold(bytes) {
          if (!bodies.take(bytes)) throw full();
          held += bytes;
        },
        release: () => bodies.give(held),
      };
    },
  };
}

const full = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'too many requests are under way, try again');
