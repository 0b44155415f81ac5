// Generates load: a closed loop for maximum throughput, an open loop for latency at a given rate.
import { Agent, type Dispatcher } from 'undici';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Shot {
  origin: string;
  path: string;
  /** The headers of every request, or of the one with this index. */
  headers: Record<string, string> | ((index: number) => Record<string, string>);
  /** POST by default. */
  method?: 'GET' | 'POST';
  /** Undefined for a request without a body. */
  body: ((index: number) => string) | undefined;
}

export interface Measured {
  count: number;
  failed: number;
  seconds: number;
  per_second: number;
  p50_ms: number;
  p99_ms: number;
}

const CONNECTIONS = 64;

function shooter(shot: Shot, connections = CONNECTIONS) {
  const agent = new Agent({ connections, pipelining: 1 });
  const { headers } = shot;
  const headersOf = typeof headers === 'function' ? headers : () => headers;
  const fire = async (index: number): Promise<boolean> => {
    const answer = await agent.request({
      origin: shot.origin,
      path: shot.path,
      method: shot.method ?? 'POST',
      headers: { ...(shot.body && { 'content-type': 'application/json' }), ...headersOf(index) },
      body: shot.body?.(index) ?? null,
    } as Dispatcher.RequestOptions & { origin: string });
    await answer.body.dump();
    return answer.statusCode < 300;
  };
  return { fire, close: () => agent.close() };
}

/** Keeps `workers` requests in flight for `seconds`. */
export async function closedLoop(shot: Shot, workers: number, seconds: number): Promise<Measured> {
  const { fire, close } = shooter(shot, workers);
  const times: number[] = [];
  let failed = 0;
  let index = 0;
  const started = performance.now();
  const until = started + seconds * 1_000;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < until) {
        const at = performance.now();
        if (!(await fire(index++).catch(() => false))) failed += 1;
        times.push(performance.now() - at);
      }
    }),
  );
  await close();
  return summary(times, failed, (performance.now() - started) / 1_000);
}

const OPENING_S = 1;

/** How many of `total` are due after `elapsed_ms`: the first at once, then one per interval. */
export const dueAfter = (elapsed_ms: number, rate: number, total: number): number =>
  Math.min(total, 1 + Math.floor((elapsed_ms / 1_000) * rate));

/**
 * Sends `rate` requests per second, regardless of the answers; latency counts from when a request
 * was due. The first second, in which the connections open, is not counted.
 */
export async function openLoop(shot: Shot, rate: number, seconds: number): Promise<Measured> {
  const { fire, close } = shooter(shot, 256);
  await fireAtRate(fire, rate, OPENING_S);
  const measured = await fireAtRate(fire, rate, seconds);
  await close();
  return measured;
}

async function fireAtRate(
  fire: (index: number) => Promise<boolean>,
  rate: number,
  seconds: number,
): Promise<Measured> {
  const times: number[] = [];
  const pending: Promise<void>[] = [];
  let failed = 0;
  const total = Math.floor(rate * seconds);
  const started = performance.now();
  for (let index = 0; index < total;) {
    const due = dueAfter(performance.now() - started, rate, total);
    for (; index < due; index += 1) {
      const at = started + (index / rate) * 1_000;
      pending.push(
        fire(index)
          .catch(() => false)
          .then((ok) => {
            if (!ok) failed += 1;
            times.push(performance.now() - at);
          }),
      );
    }
    await sleep(1);
  }
  await Promise.all(pending);
  return summary(times, failed, (performance.now() - started) / 1_000);
}

export function quantile(times: readonly number[], q: number): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

export function summary(times: number[], failed: number, seconds: number): Measured {
  return {
    count: times.length,
    failed,
    seconds,
    per_second: times.length / seconds,
    p50_ms: quantile(times, 0.5),
    p99_ms: quantile(times, 0.99),
  };
}

/** The median of some rounds, and the smallest and largest. */
export function spread(rounds: readonly number[], digits: number): string {
  const text = (value: number): string => value.toFixed(digits);
  if (rounds.length === 1) return text(rounds[0] as number);
  return `${text(quantile(rounds, 0.5))} (${text(Math.min(...rounds))} to ${text(Math.max(...rounds))})`;
}
