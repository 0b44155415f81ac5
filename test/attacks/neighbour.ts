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
}

/** Sends until the signal is aborted. `send` makes one request. */
export async function sendSteadily(
  send: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Measured> {
  const durations: number[] = [];
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
        .finally(() => durations.push(performance.now() - started)),
    );
    // Paced by the clock, so that a late timer does not lower the rate.
    const next = began + (sends.length * 1_000) / SENDS_PER_SEC;
    await sleep(Math.max(0, next - performance.now()));
  }
  await Promise.all(sends);
  const sorted = durations.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { sends: sends.length, failures, p50_ms: at(0.5), p99_ms: at(0.99) };
}
