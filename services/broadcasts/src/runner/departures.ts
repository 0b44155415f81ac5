// Sends each marked contact at its pace slot. Slots can be missed when the process stalls or the
// store is slow. A worker that has the number to itself then catches up, never above the number's
// own rate. One that shares the number reserves new slots instead. So no second holds more than the
// rate.
import { pause } from '@bmg/common/lifecycle';
import type { Slots } from '../pace';
import type { ContactSend } from './active-broadcast';

type Booking = Pick<Slots, 'alone' | 'interval_ms' | 'took_ms'>;

export interface Departures {
  /** Books contacts for their slots. `first` is on the time scale of performance.now(). */
  add(sends: ContactSend[], slots: Booking, first: number): void;
  /** Stops all departures; returns the contacts that have not departed. */
  close(): ContactSend[];
}

/** Lower bound for a shared number, so that a machine that is always a little late can send. */
const LATE_MIN_MS = 20;
const LATE_ALONE_MAX_MS = 1_500;
/** Precision of timers: sends may bunch up by this much, and the gap between them compensates. */
const TIMER_PRECISION_MS = 10;
const SECOND_MS = 1_000;
const RESERVE_RETRY_MS = 200;

interface Booked {
  send: ContactSend;
  at: number;
  late_max_ms: number;
}

export function createDepartures(deps: {
  depart: (send: ContactSend) => void;
  /** Reserves new slots for contacts that missed theirs. */
  reserve: (count: number) => Promise<Slots | undefined>;
  /** The part of the number's rate that slots use, 0 to 1; the rest is for catching up. */
  share: number;
}): Departures {
  let queue: Booked[] = [];
  let missed: ContactSend[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** The generic cell rate algorithm over actual departures. */
  let gap_ms = 0;
  let next_at = 0;
  let rebooking = false;
  let closed = false;

  const departDue = (): void => {
    clearTimeout(timer);
    for (let next = queue[0]; next && !closed; next = queue[0]) {
      const now = performance.now();
      const due = Math.max(next.at, next_at - TIMER_PRECISION_MS);
      if (due > now) {
        timer = setTimeout(departDue, due - now);
        break;
      }
      queue.shift();
      if (now - next.at > next.late_max_ms) {
        missed.push(next.send);
        continue;
      }
      next_at = Math.max(next_at, now) + gap_ms;
      deps.depart(next.send);
    }
    if (missed.length > 0 && !rebooking) void rebookMissed();
  };
  const rebookMissed = async (): Promise<void> => {
    rebooking = true;
    while (missed.length > 0 && !closed) {
      const slots = await deps.reserve(missed.length).catch(() => undefined);
      const first = performance.now() + (slots?.wait_ms ?? 0);
      if (slots && slots.count > 0 && !closed) add(missed.splice(0, slots.count), slots, first);
      else await pause(slots?.wait_ms ?? RESERVE_RETRY_MS);
    }
    rebooking = false;
  };
  const add: Departures['add'] = (sends, { alone, interval_ms, took_ms }, first) => {
    gap_ms = interval_ms * deps.share * (1 + TIMER_PRECISION_MS / SECOND_MS);
    // The part of a second that the share leaves free: a delay within it stays within the rate.
    const late_shared_ms = Math.max(LATE_MIN_MS, SECOND_MS * (1 - deps.share) - took_ms);
    const late_max_ms = alone ? LATE_ALONE_MAX_MS : late_shared_ms;
    queue.push(...sends.map((send, at) => ({ send, at: first + at * interval_ms, late_max_ms })));
    queue.sort((a, b) => a.at - b.at);
    departDue();
  };
  return {
    add,
    close() {
      closed = true;
      clearTimeout(timer);
      const left = [...queue.map(({ send }) => send), ...missed];
      queue = [];
      missed = [];
      return left;
    },
  };
}
