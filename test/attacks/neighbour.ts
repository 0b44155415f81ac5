// The well-behaved partner beside an attack: sends at a steady rate, whatever the answers take, and
// measures them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../testkit/rest';

const SENDS_PER_SEC = 20;

export interface Measured {
  sends: number;
  /** Status or error of each failed send. */
  failures: string[];
  p50_ms: number;
  p99_ms: number;
  /**
   * The slowest sends: when each began, after the first one, and what it took: `12.4 s: 310 ms`.
   */
  slowest: string;
}

const SLOWEST_MAX = 6;

/** Sends until the signal is aborted. `send` makes one request. */
export async function sendSteadily(
  send: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Measured> {
  const durations: Array<{ at_ms: number; ms: number }> = [];
  const failures: string[] = [];
  const sends: Promise<void>[] = [];
  const began = performance.now();
  while (!signal.aborted) {
    const started = performance.now();
    sends.push(
      send()
        .then(({ status, body }) => {
          if (status !== 200) failures.push(`${status} ${String(body?.error?.code)}`);
        })
        .catch((error: unknown) => void failures.push(String(error)))
        .finally(() => durations.push({ at_ms: started - began, ms: performance.now() - started })),
    );
    // Paced by the clock, so that a late timer does not lower the rate.
    const next = began + (sends.length * 1_000) / SENDS_PER_SEC;
    await sleep(Math.max(0, next - performance.now()));
  }
  await Promise.all(sends);
  const sorted = durations.sort((a, b) => a.ms - b.ms);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]?.ms ?? 0);
  const slowest = sorted
    .slice(-SLOWEST_MAX)
    .sort((a, b) => a.at_ms - b.at_ms)
    .map(({ at_ms, ms }) => `${(at_ms / 1_000).toFixed(1)} s: ${Math.round(ms)} ms`)
    .join(', ');
  return { sends: sends.length, failures, p50_ms: at(0.5), p99_ms: at(0.99), slowest };
}
