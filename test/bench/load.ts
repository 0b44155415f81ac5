// Generates load over plain sockets: a number of units in flight for maximum throughput, or units
// at a given rate for latency. The driver shares the machine with the measured mesh, so a request
// must cost it next to nothing. Measures what a load costs each process, and prints it.
import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@bmg/local';
import { requestBytes } from '../testkit/request-bytes';
import { residentMib } from '../testkit/resident-memory';
import { inboundBody, signed } from '../testkit/upstream-webhooks';

/** Enough units in flight for maximum throughput. */
export const WORKERS = 64;

/** Milliseconds of the monotonic clock that all processes of the machine share. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/**
 * One unit of work, due at `due_ms`; returns the milliseconds of its stages, or undefined if it
 * failed.
 */
export type Unit = (due_ms: number) => Promise<Record<string, number> | undefined>;

export interface Done {
  count: number;
  failed: number;
  /** Milliseconds of each unit, by stage. */
  times: Record<string, number[]>;
}

function collect(unit: Unit) {
  const done: Done = { count: 0, failed: 0, times: {} };
  const run = async (due_ms: number): Promise<void> => {
    const taken = await unit(due_ms);
    if (!taken) return void (done.failed += 1);
    done.count += 1;
    for (const [stage, ms] of Object.entries(taken)) (done.times[stage] ??= []).push(ms);
  };
  return { done, run };
}

/** Keeps `workers` units running while there are more to begin. */
export async function inFlight(unit: Unit, workers: number, more: () => boolean): Promise<Done> {
  const { done, run } = collect(unit);
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (more()) await run(now());
    }),
  );
  return done;
}

export function forSeconds(seconds: number): () => boolean {
  const until = now() + seconds * 1_000;
  return () => now() < until;
}

/** Begins `rate` units a second, regardless of how long they take: the first one at once. */
export async function atRate(unit: Unit, rate: number, seconds: number): Promise<Done> {
  const { done, run } = collect(unit);
  const pending: Promise<void>[] = [];
  const started = now();
  const total = Math.floor(rate * seconds);
  while (pending.length < total) {
    const due = Math.min(total, 1 + Math.floor(((now() - started) / 1_000) * rate));
    while (pending.length < due) pending.push(run(started + (pending.length / rate) * 1_000));
    await sleep(1);
  }
  await Promise.all(pending);
  return done;
}

export function quantile(times: readonly number[], q: number): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

/** The stub of the upstream posts no statuses of a message with this text. */
export const SILENT = 'no statuses';

export interface Place {
  waba_id: string;
  phone_number_id: string;
  partner_key: string;
}

/** For each place: enough that every few messages come from a new customer. */
const CUSTOMERS_MAX = 5_000;
/** Counts the customers of all places, so that more places do not mean more new customers. */
const ALL_CUSTOMERS = 50_000;
const MIX = 2_654_435_761;
const QUESTION = 'Is my order on its way already? I would need it by Friday.';

export interface Webhook {
  /** The last message of the body. */
  id: string;
  place: number;
  body: string;
}

let messages_made = 0;
let bodies_made = 0;

export function webhook(places: readonly Place[], items = 1): Webhook {
  const place = bodies_made++ % places.length;
  const customers = Math.min(CUSTOMERS_MAX, Math.ceil(ALL_CUSTOMERS / places.length));
  // Scattered, so that new customers keep appearing while others write again.
  const from = String(15_550_200_000 + ((Math.imul(messages_made, MIX) >>> 8) % customers));
  let id = '';
  const messages = Array.from({ length: items }, () => {
    messages_made += 1;
    id = `wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI${String(messages_made).padStart(10, '0')}`;
    return { from, id, text: QUESTION };
  });
  return { id, place, body: inboundBody(places[place] as Place, ...messages) };
}

/** A signed post to the ingress, as it goes over the wire. */
export const wireWebhook = (ingress: string, body: string): Buffer =>
  requestBytes(new URL(ingress), '/webhooks/upstream', signed(body), body);

export const HOST = '127.0.0.1';
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
/** More requests wait until a connection is free, as they do at the upstream. */
const CONNECTIONS_MAX = 512;

/** The first message of the received text, which has one character per byte, if it is complete. */
function messageOf(text: string): { head: string; body: string; end: number } | undefined {
  const head_end = text.indexOf(HEAD_END);
  if (head_end < 0) return undefined;
  const head = text.slice(0, head_end + 2);
  const body_at = head_end + HEAD_END.length;
  const end = body_at + Number(LENGTH.exec(head)?.[1] ?? 0);
  return text.length < end ? undefined : { head, body: text.slice(body_at, end), end };
}

export interface WireAnswer {
  /** 0 if the connection failed. */
  status: number;
  /** One character per byte. */
  body: string;
}

interface Line {
  socket: Socket;
  text: string;
  resolve: ((answer: WireAnswer) => void) | undefined;
}

/** Opens a connection when all others wait for their answer. */
export function createWireClient(origin: string) {
  const { hostname, port } = new URL(origin);
  const idle: Line[] = [];
  let opened = 0;
  const waiting: Array<(line: Line) => void> = [];
  const settle = (line: Line, answer: WireAnswer): void => {
    const { resolve } = line;
    line.resolve = undefined;
    resolve?.(answer);
  };
  const open = (): Line => {
    const line: Line = { socket: connect(Number(port), hostname), text: '', resolve: undefined };
    opened += 1;
    line.socket.setNoDelay(true);
    line.socket.on('error', () => line.socket.destroy());
    line.socket.on('close', () => {
      opened -= 1;
      const at = idle.indexOf(line);
      if (at >= 0) idle.splice(at, 1);
      settle(line, { status: 0, body: '' });
      const next = waiting.shift();
      if (next) next(open());
    });
    line.socket.on('data', (chunk: Buffer) => {
      line.text += chunk.toString('latin1');
      const answer = messageOf(line.text);
      if (!answer) return;
      const status = Number(line.text.slice(9, 12));
      line.text = '';
      settle(line, { status, body: answer.body });
      const next = waiting.shift();
      if (next) next(line);
      else idle.push(line);
    });
    return line;
  };
  /** Sends a request, head and body as they go over the wire, and reads the answer. */
  return (request: Buffer): Promise<WireAnswer> =>
    new Promise((resolve) => {
      const post = (line: Line): void => {
        line.resolve = resolve;
        line.socket.write(request);
      };
      const line = idle.pop() ?? (opened < CONNECTIONS_MAX ? open() : undefined);
      if (line) post(line);
      else waiting.push(post);
    });
}

export const respond = (socket: Socket, body: string): void => {
  const length = Buffer.byteLength(body);
  const head = `content-type: application/json\r\ncontent-length: ${length}`;
  socket.write(`HTTP/1.1 200 OK\r\n${head}${HEAD_END}${body}`);
};

/** Calls `handle` for each request, whose body has one character per byte. */
export function startWireServer(
  port: number,
  handle: (request: { path: string; body: string }, socket: Socket) => void,
): Server {
  const server = createServer((socket) => {
    let text = '';
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let request = messageOf(text); request; request = messageOf(text)) {
        text = text.slice(request.end);
        const [, path = '/'] = request.head.split(' ', 2);
        handle({ path, body: request.body }, socket);
      }
    });
  });
  return server.listen(port, HOST);
}

/** The processes whose cost is no part of what is measured. */
const DRIVERS = new Set(['driver', 'emulator', 'stub']);
/** Bare chains, by the first word of the names of their parts. */
const FLOOR = /^(bare|storing) /;
export const countsForMesh = (part: string): boolean => !DRIVERS.has(part) && !FLOOR.test(part);

/** Clock ticks per second in /proc/<pid>/stat on every common Linux. */
const TICKS = 100;

interface Cost {
  cpu_s: number;
  rss_mib: number;
  /** How often a thread of the process went to sleep and woke up: voluntary context switches. */
  wakes: number;
  /** Seconds in which a thread of the process could run, and waited for a core. */
  queued_s: number;
}

/** The second field of /proc/<pid>/task/<thread>/schedstat is in nanoseconds. */
const QUEUED = /^\d+ (\d+)/;
const NS_PER_S = 1e9;
const WAKES = /^voluntary_ctxt_switches:\s+(\d+)/m;

/** Sums a field over the threads of a process; a thread that ends meanwhile counts nothing. */
function overThreads(pid: number, file: string, field: RegExp): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const status = readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8');
      sum += Number(field.exec(status)?.[1] ?? 0);
    } catch {
      continue;
    }
  }
  return sum;
}

/** CPU seconds and wake-ups so far, and current memory; zeros on a system without /proc. */
export function costOf(pid: number): Cost {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      cpu_s: (Number(fields[11]) + Number(fields[12])) / TICKS,
      rss_mib: residentMib(pid),
      wakes: overThreads(pid, 'status', WAKES),
      queued_s: overThreads(pid, 'schedstat', QUEUED) / NS_PER_S,
    };
  } catch {
    return { cpu_s: 0, rss_mib: 0, wakes: 0, queued_s: 0 };
  }
}

/** Counts of a process, by name. */
export type Counted = Record<string, number>;

/** Metrics that are printed with a run: the service, and the pattern of a reason and its value. */
const COUNTED: Array<[what: string, service: ServiceName, line: RegExp]> = [
  ['deliveries stored', 'webhooks', /^webhook_deliveries_stored_total\{reason="(\w+)"\} (\S+)/gm],
  [
    'seconds that the slowest sends waited',
    'gateway',
    /^http_server_slowest_wait_seconds_sum\{http_route="\/messages\/send",waited_for="(\w+)"\} (\S+)/gm,
  ],
  [
    'seconds that the slowest events waited',
    'webhooks',
    /^webhook_slowest_wait_seconds_sum\{waited_for="(\w+)"\} (\S+)/gm,
  ],
];

/** What a load goes through, for its measurement: the processes, and those whose cost counts. */
interface Measured {
  bench: { parts: Map<string, { metrics_port: number }>; pids(): Record<string, number> };
  counts(part: string): boolean;
}

const readCounted = ({ parts }: Measured['bench']): Promise<Counted[]> =>
  Promise.all(
    COUNTED.map(async ([, service, line]) => {
      const part = parts.get(service);
      const page = part && (await fetch(`http://${HOST}:${part.metrics_port}/metrics`)).text();
      const lines = ((await page) ?? '').matchAll(line);
      return Object.fromEntries([...lines].map(([, reason = '', sum]) => [reason, Number(sum)]));
    }),
  );

export interface Run extends Done {
  seconds: number;
  costs: Record<string, Cost>;
  /** The driver's share of all cores. */
  driving: number;
  /** In the order of COUNTED. */
  counted: Counted[];
}

/** Measures `work`: its duration, and what it costs the processes of the path. */
export async function measure(
  { bench, counts }: Measured,
  work: () => Promise<Done>,
): Promise<Run> {
  const counted = await readCounted(bench);
  const before = Object.entries(bench.pids()).map(([name, pid]) => ({
    name,
    pid,
    then: costOf(pid),
  }));
  const started = now();
  const done = await work();
  const seconds = (now() - started) / 1_000;
  const costs = before.map(({ name, pid, then }): [string, Cost] => [
    name,
    minus(costOf(pid), then, 1),
  ]);
  const driver = costs.filter(([name]) => DRIVERS.has(name));
  const driver_s = driver.reduce((sum, [, { cpu_s }]) => sum + cpu_s, 0);
  return {
    ...done,
    seconds,
    costs: Object.fromEntries(costs.filter(([name]) => counts(name))),
    driving: driver_s / seconds / cpus().length,
    counted: (await readCounted(bench)).map((after, at) => less(after, counted[at] ?? {})),
  };
}

const minus = (cost: Cost, other: Cost, times: number): Cost => ({
  rss_mib: cost.rss_mib,
  cpu_s: cost.cpu_s - other.cpu_s * times,
  wakes: cost.wakes - other.wakes * times,
  queued_s: cost.queued_s - other.queued_s * times,
});

/** What was counted since `before`. */
export const less = (after: Counted, before: Counted): Counted =>
  Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]),
  );

/** The cost of `seconds` without a request, where a second is the unit. */
export const measureIdle = (path: Measured, seconds: number): Promise<Run> =>
  measure(path, () => sleep(seconds * 1_000, { count: seconds, failed: 0, times: {} }));

/** The run without what its processes cost without a request. */
export function withoutIdle(run: Run, idle: Run): Run {
  const periods = run.seconds / idle.seconds;
  const costs = Object.entries(run.costs).map(([name, cost]) => {
    const rest = idle.costs[name];
    return [name, rest ? minus(cost, rest, periods) : cost];
  });
  return { ...run, costs: Object.fromEntries(costs) };
}

export const rateOf = ({ count, seconds }: Run): number => count / seconds;
const sumOf = (run: Run, take: 'cpu_s' | 'wakes'): number =>
  Object.values(run.costs).reduce((sum, cost) => sum + cost[take], 0) / Math.max(1, run.count);

/** Less CPU than this for 1,000 is not printed. */
const REPORT_FROM_S = 0.002;

/** The median of some rounds, and the smallest and largest. */
function spread(rounds: readonly number[], digits: number): string {
  const text = (value: number): string => value.toFixed(digits);
  const median = text(quantile(rounds, 0.5));
  if (rounds.length === 1) return median;
  return `${median} (${text(Math.min(...rounds))} to ${text(Math.max(...rounds))})`;
}

/**
 * Prints the rounds of a load: its figures, their ratios to the same rounds of `base`, and what the
 * last one cost each process.
 */
export function tell(name: string, runs: readonly Run[], base: readonly Run[] = []): void {
  const figure = (take: (run: Run) => number, digits: number): string => {
    const text = spread(runs.map(take), digits);
    if (base.length === 0 || base === runs) return text;
    const ratios = runs.map((run, at) => take(run) / take((base[at] ?? base[0]) as Run));
    return `${text} [${spread(ratios, 2)} times]`;
  };
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  const last = runs.at(-1) as Run;
  console.log(
    `\n${name}: ${figure(rateOf, 0)} /s   ${figure((run) => sumOf(run, 'cpu_s') * 1_000, 3)} CPU s per 1,000   ` +
      `${figure((run) => sumOf(run, 'wakes'), 1)} wake-ups each   failed ${failed}   ` +
      `driver ${spread(
        runs.map(({ driving }) => driving * 100),
        0,
      )} % of the machine`,
  );
  for (const stage of Object.keys(last.times)) {
    const at = (q: number): string => figure(({ times }) => quantile(times[stage] ?? [], q), 1);
    console.log(`  ${stage} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  }
  for (const [at, [what]] of COUNTED.entries()) tellCounted(what, last.counted[at] ?? {});
  tellCosts(last);
}

function tellCounted(what: string, counted: Counted): void {
  const all = Object.values(counted).reduce((sum, one) => sum + one, 0);
  if (all === 0) return;
  const shares = Object.entries(counted)
    .map(([reason, one]): [string, number] => [reason, (one / all) * 100])
    .filter(([, share]) => share >= 1)
    .sort(([, one], [, other]) => other - one);
  const parts = shares.map(([reason, share]) => `${reason} ${share.toFixed(0)} %`);
  console.log(`  ${what}: ${all.toFixed(1)}, of it ${parts.join(', ')}`);
}

function tellCosts({ costs, count }: Run): void {
  const units = Math.max(1, count);
  for (const [part, cost] of Object.entries(costs).sort(([, a], [, b]) => b.cpu_s - a.cpu_s)) {
    const cpu_s = (cost.cpu_s / units) * 1_000;
    if (cpu_s < REPORT_FROM_S) continue;
    const queued_s = (cost.queued_s / units) * 1_000;
    console.log(
      `  ${part.padEnd(16)} ${cpu_s.toFixed(3).padStart(7)} CPU s, ${queued_s.toFixed(3)} s for a core, ` +
        `${(cost.wakes / units).toFixed(1)} wake-ups, ${cost.rss_mib.toFixed(0)} MiB`,
    );
  }
}
