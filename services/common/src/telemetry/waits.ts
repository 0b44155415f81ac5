// Where the time of a request or an event went. The parts on its way add what it waited for, which
// costs two readings of the clock; only the slowest ones report it.
import type { SpanContext } from './span';
import type { Timed } from './timed';

/** Milliseconds by what was waited for, such as `mongodb`. */
export type Waited = Record<string, number>;

/** What one request has waited for. Waits beside each other all count in full. */
export class Waits {
  private readonly waited: Waited = {};

  add(what: string, ms: number): void {
    this.waited[what] = (this.waited[what] ?? 0) + ms;
  }

  /** Adds all of a report from another process. */
  merge(reported: Waited): number {
    let sum = 0;
    for (const [what, ms] of Object.entries(reported)) {
      this.add(what, ms);
      sum += ms;
    }
    return sum;
  }

  /**
   * All waits of a request that took `total_ms`. The rest is counted as `own`: the code of this
   * process, and the turns of its event loop that the request waited for.
   */
  report(own: string, total_ms: number): Waited {
    const known = Object.values(this.waited).reduce((sum, ms) => sum + ms, 0);
    const all = { ...this.waited, [own]: Math.max(0, total_ms - known) };
    return Object.fromEntries(Object.entries(all).map(([what, ms]) => [what, rounded(ms)]));
  }
}

const rounded = (ms: number): number => Math.round(ms * 1e3) / 1e3;

/** Counts the time until `work` is settled. An async function is cheaper than `finally`. */
export async function waitedFor<T>(
  waits: Waits | undefined,
  what: string,
  work: Promise<T>,
): Promise<T> {
  const started = performance.now();
  try {
    return await work;
  } finally {
    waits?.add(what, performance.now() - started);
  }
}

/** Observes each wait of a slow request or event, and returns them all for its log line. */
export function observeWaits(
  metric: Timed,
  labels: Record<string, string>,
  waited: Waited,
  span: SpanContext,
): Waited {
  for (const [waited_for, ms] of Object.entries(waited)) {
    metric.observe({ ...labels, waited_for }, ms / 1_000, span);
  }
  return waited;
}

const SLOWEST_SHARE = 0.01;
/** Nothing faster is reported, however rare it is. */
const LEAST_MS = 5;
/** So many of the slowest ones of a window are slower than its limit. */
const SLOWER = 3;

/**
 * Returns whether a duration is among the slowest `share` of those it was called with: slower than
 * that share of the window before. A window has 3 / `share` durations.
 */
export function slowest(share = SLOWEST_SHARE): (ms: number) => boolean {
  const window = new Float64Array(Math.round(SLOWER / share));
  let count = 0;
  let limit_ms = Infinity;
  return (ms) => {
    window[count] = ms;
    count += 1;
    if (count === window.length) {
      limit_ms = Math.max(LEAST_MS, window.sort()[count - SLOWER - 1] as number);
      count = 0;
    }
    return ms > limit_ms;
  };
}
