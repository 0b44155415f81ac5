// Time as an argument. Whoever waits, schedules or stamps takes a Clock, so that tests decide what time
// it is. Deadlines of sockets are not meant: those run on the real clock wherever they are.

/** Calls off what was scheduled; calling it again, or too late, does nothing. */
export type Cancel = () => void;

export interface Clock {
  now(): Date;
  nowMs(): number;
  /** Resolves after the time; rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  setTimeout(fn: () => void, ms: number): Cancel;
}

export interface FakeClock extends Clock {
  /** Moves time forward, firing what falls due in order and letting promises run after each. */
  advance(ms: number): Promise<void>;
  /** How many timers are waiting: zero at the end of a test that leaks none. */
  pending(): number;
}

// The platform's timers hold 31 bits and fire at once beyond that, which would turn a long wait into a
// busy loop.
const DELAY_MAX_MS = 2 ** 31 - 1;

/** The real time. */
export const systemClock: Clock = {
  now: () => new Date(),
  nowMs: () => Date.now(),
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
  setTimeout(fn, ms) {
    const timer = setTimeout(fn, checkedDelay(ms));
    return () => clearTimeout(timer);
  },
};

interface Timer {
  due: number;
  fn: () => void;
}

// A timer that schedules another one for at once would otherwise keep advance() busy for ever.
const FIRED_PER_ADVANCE_MAX = 100_000;

/** A clock that stands still until it is told to move. */
export function fakeClock(start: Date | number | string = 0): FakeClock {
  let time = new Date(start).getTime();
  if (Number.isNaN(time)) throw new RangeError('a fake clock needs a valid start');
  const timers = new Set<Timer>();

  const clock: FakeClock = {
    now: () => new Date(time),
    nowMs: () => time,
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    setTimeout(fn, ms) {
      const timer = { due: time + checkedDelay(ms), fn };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const until = time + checkedDelay(ms);
      await settle();
      for (let fired = 0; ; fired++) {
        const next = earliest(timers);
        if (next === undefined || next.due > until) break;
        if (fired >= FIRED_PER_ADVANCE_MAX) throw new Error('a timer schedules itself without end');
        timers.delete(next);
        time = next.due;
        next.fn();
        await settle();
      }
      time = until;
    },
    pending: () => timers.size,
  };
  return clock;
}

// Of timers that are due together the one that was set first, as the platform does it.
function earliest(timers: ReadonlySet<Timer>): Timer | undefined {
  let found: Timer | undefined;
  for (const timer of timers) if (found === undefined || timer.due < found.due) found = timer;
  return found;
}

// One turn of the event loop: every promise that can continue without I/O has continued by then.
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function sleepOn(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const cancel = clock.setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function checkedDelay(ms: number): number {
  if (Number.isNaN(ms) || ms > DELAY_MAX_MS) throw new RangeError(`cannot wait ${ms} ms`);
  return Math.max(0, ms);
}
