// What the slowest hundredth of the requests and events waited for during a load, from the metrics
// of the services, and what their processes did meanwhile.
import { HOST } from './events-mesh';
import type { Bench } from './processes';

/** Seconds by what was waited for. */
type Waits = Record<string, number>;

export interface Tails {
  send: Waits;
  event: Waits;
  /** Seconds of collections of each process. */
  collections: Waits;
}

const SEND =
  /^http_server_slowest_wait_seconds_sum\{http_route="\/messages\/send",waited_for="(\w+)"\} (\S+)/gm;
const EVENT = /^webhook_slowest_wait_seconds_sum\{waited_for="(\w+)"\} (\S+)/gm;
const COLLECTION = /^nodejs_gc_duration_seconds_sum\{kind="(\w+)"\} (\S+)/gm;
const PROCESSES = ['gateway', 'messaging', 'webhooks', 'fanout'];

async function read(bench: Bench): Promise<Tails> {
  const pages = await Promise.all(
    PROCESSES.map(async (name) => {
      const answer = await fetch(`http://${HOST}:${bench.port(`${name}-metrics`)}/metrics`);
      return [name, await answer.text()] as const;
    }),
  );
  const text = (wanted: string): string => pages.find(([name]) => name === wanted)?.[1] ?? '';
  const of = (page: string, line: RegExp): Waits =>
    Object.fromEntries([...page.matchAll(line)].map(([, what, sum]) => [what, Number(sum)]));
  const total = (waits: Waits): number => Object.values(waits).reduce((sum, one) => sum + one, 0);
  return {
    send: of(text('gateway'), SEND),
    event: of(text('webhooks'), EVENT),
    collections: Object.fromEntries(
      pages.map(([name, page]) => [name, total(of(page, COLLECTION))]),
    ),
  };
}

/** Returns the waits during `work`. */
export async function tailsDuring<T>(
  bench: Bench,
  work: () => Promise<T>,
): Promise<{ result: T; tails: Tails }> {
  const before = await read(bench);
  const result = await work();
  const after = await read(bench);
  const grown = (kind: keyof Tails): Waits =>
    Object.fromEntries(
      Object.entries(after[kind]).map(([what, sum]) => [what, sum - (before[kind][what] ?? 0)]),
    );
  const tails = { send: grown('send'), event: grown('event'), collections: grown('collections') };
  return { result, tails };
}

const LEAST_SHARE = 0.01;

/** Shares of the whole wait, the largest first. */
export function shares(waits: Waits): string {
  const total = Object.values(waits).reduce((sum, one) => sum + one, 0);
  if (total === 0) return 'none was slow';
  return Object.entries(waits)
    .filter(([, one]) => one / total >= LEAST_SHARE)
    .sort(([, one], [, other]) => other - one)
    .map(([what, one]) => `${what} ${((one / total) * 100).toFixed(0)} %`)
    .join(', ');
}
