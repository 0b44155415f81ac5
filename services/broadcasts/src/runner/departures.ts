// Lets each marked contact go at its slot. Where the process stood still or the store was slow, a worker that
// has the number to itself catches up, never faster than the number's own rate; one that shares it gives
// missed slots up and asks for new ones. So no second holds more than the rate, whoever was late.
import { pause } from '@bmg/common/lifecycle';
import type { Slots } from '../pace/redis-pace';
import type { Flight } from './active-broadcast';

export interface Departures {
  /** `first` is in the same milliseconds as performance.now(). */
  add(flights: Flight[], slots: Pick<Slots, 'alone' | 'interval_ms'>, first: number): void;
  /** Lets no further one go; answers those that have not gone. */
  close(): Flight[];
}

/** Beside other workers; a machine that is never in time by less than this would get nothing done. */
const LATE_MIN_MS = 20;
const LATE_ALONE_MAX_MS = 1_500;
/** Timers are this coarse: sends may come together by as much, and the gap makes up for it. */
const TOGETHER_MS = 10;
const SECOND_MS = 1_000;
const AGAIN_MS = 200;

interface Booked {
  flight: Flight;
  at: number;
  late_max_ms: number;
}

export function createDepartures(deps: {
  go: (flight: Flight) => void;
  /** New slots for those that missed theirs. */
  reserve: (count: number) => Promise<Slots | undefined>;
  /** The part of the number's rate that slots are made of: what is left is for catching up. */
  share: number;
}): Departures {
  let queue: Booked[] = [];
  let missed: Flight[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** The generic cell rate algorithm over actual departures. */
  let gap_ms = 0;
  let next_at = 0;
  let rebooking = false;
  let closed = false;

  const depart = (): void => {
    clearTimeout(timer);
    for (let next = queue[0]; next && !closed; next = queue[0]) {
      const now = performance.now();
      const due = Math.max(next.at, next_at - TOGETHER_MS);
      if (due > now) {
        timer = setTimeout(depart, due - now);
        break;
      }
      queue.shift();
      if (now - next.at > next.late_max_ms) {
        missed.push(next.flight);
        continue;
      }
      next_at = Math.max(next_at, now) + gap_ms;
      deps.go(next.flight);
    }
    if (missed.length > 0 && !rebooking) void rebook();
  };
  const rebook = async (): Promise<void> => {
    rebooking = true;
    while (missed.length > 0 && !closed) {
      const slots = await deps.reserve(missed.length).catch(() => undefined);
      const first = performance.now() + (slots?.wait_ms ?? 0);
      if (slots && slots.count > 0 && !closed) add(missed.splice(0, slots.count), slots, first);
      else await pause(slots?.wait_ms ?? AGAIN_MS);
    }
    rebooking = false;
  };
  const add: Departures['add'] = (flights, { alone, interval_ms }, first) => {
    gap_ms = interval_ms * deps.share * (1 + TOGETHER_MS / SECOND_MS);
    // What the share leaves of a second: then it crowds no other.
    const late_shared_ms = Math.max(LATE_MIN_MS, SECOND_MS * (1 - deps.share));
    const late_max_ms = alone ? LATE_ALONE_MAX_MS : late_shared_ms;
    queue.push(
      ...flights.map((flight, at) => ({ flight, at: first + at * interval_ms, late_max_ms })),
    );
    queue.sort((a, b) => a.at - b.at);
    depart();
  };
  return {
    add,
    close() {
      closed = true;
      clearTimeout(timer);
      const left = [...queue.map(({ flight }) => flight), ...missed];
      queue = [];
      missed = [];
      return left;
    },
  };
}
