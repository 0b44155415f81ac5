// Starts what a benchmark loads, each part as a separate process: a mesh with partners, and the
// bare chains. This process is the driver: it makes the load and is the partners' receiver.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { createRpcClient, ownCall } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import {
  findProcess,
  freePort,
  freePorts,
  logTail,
  meshSettings,
  NODE_FLAGS,
  processEnv,
  SERVICE_NAMES,
  startEngines,
  type Engines,
  type ServiceName,
  type Settings,
} from '@bmg/local';
import { EmulatorClient } from '../emulator/client';
import { eventually } from '../testkit/eventually';
import { requestBytes } from '../testkit/request-bytes';
import { callRest } from '../testkit/rest';
import {
  countsForMesh,
  createWireClient,
  HOST,
  inFlight,
  now,
  respond,
  SILENT,
  startWireServer,
  webhook,
  wireWebhook,
  WORKERS,
  type Done,
  type Place,
  type Unit,
} from './load';

export const ROOT = resolve(__dirname, '../../..');
export const SHORT = process.env['BENCH_SHORT'] === '1';
/** BENCH_NODE_FLAGS adds flags of Node, which override those that `make up` uses. */
const FLAGS = [...NODE_FLAGS, ...(process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [])];
const READY_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 15_000;
/** The exit code of a shell's command that a signal ended. */
const INTERRUPTED = 130;
const PARTS = 'test/dist/bench/parts.js';
/** Processes of the bare chain of events join their groups at Kafka meanwhile. */
const BARE_START_MS = 10_000;
const ARRIVAL_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 10;
const RECORDS_LIMIT_MS = 30_000;
const RPC_LIMIT_MS = 10_000;
const REACH_LIMIT_MS = 20_000;

interface Part {
  pid: number;
  metrics_port: number;
  stop(): Promise<void>;
  /** The counts of the process so far, under BENCH_COUNTERS=1 (counters.ts); else nothing. */
  counts(): Promise<Record<string, number>>;
}

export interface Bench {
  engines: Engines;
  settings: Settings;
  mongo: MongoClient;
  parts: Map<string, Part>;
  /** Starts a part of the benchmark: `entry` is a compiled file of this checkout. */
  start(name: string, entry: string, extra: NodeJS.ProcessEnv): void;
  /** Starts a process of a service under this name, and waits until it is ready. */
  startService(service: ServiceName, name?: string, extra?: NodeJS.ProcessEnv): Promise<void>;
  /** Stops these parts, one after the other. */
  stop(names: readonly string[]): Promise<void>;
  /** The running processes: engines, parts and the driver. */
  pids(): Record<string, number>;
}

interface BenchOptions {
  /** The checkout whose services run. */
  root?: string;
  /** Overrides settings of the engines. */
  engine_env?: NodeJS.ProcessEnv;
}

/**
 * Starts engines and prepares settings of a separate mesh, independent of one that may be running,
 * and stops everything after `work`.
 */
export async function withBench<T>(
  work: (bench: Bench) => Promise<T>,
  { root = ROOT, engine_env = {} }: BenchOptions = {},
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-bench-'));
  const engines = await startEngines({
    dir,
    ports: 'free',
    env: { ...process.env, ...engine_env },
    log: (line) => console.error(`  ${line}`),
  });
  const settings = await settingsOf(engines);
  const mongo = new MongoClient(engines.urls.MONGO_URL, { ignoreUndefined: true });
  const parts = new Map<string, Part>();
  const start = (name: string, program: Omit<Program, 'dir'>): Part => {
    const part = startPart(name, { ...program, dir });
    parts.set(name, part);
    return part;
  };
  const engine_pids = Object.fromEntries(engines.started.map(({ name, pid }) => [name, pid]));
  const stop = async (): Promise<void> => {
    await Promise.all([mongo.close(), ...[...parts.values()].map((part) => part.stop())]);
    await engines.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const interrupted = (): void => void stop().finally(() => process.exit(INTERRUPTED));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    return await work({
      engines,
      settings,
      mongo,
      parts,
      start: (name, entry, extra) =>
        void start(name, { root: ROOT, entry, env: { ...settings, ...COMMON_ENV, ...extra } }),
      async startService(service, name = service, extra = {}) {
        const found = findProcess(service);
        const env = { ...processEnv(found, COMMON_ENV, settings), ...extra };
        const { metrics_port } = start(name, { root, entry: found.entry, env });
        const look = async () => (await fetch(`http://${HOST}:${metrics_port}/readyz`)).ok;
        await eventually(look, READY_LIMIT_MS).catch(() => {
          throw new Error(`${name} did not become ready:\n${logTail(join(dir, `${name}.log`))}`);
        });
      },
      async stop(names) {
        for (const name of names) {
          await parts.get(name)?.stop();
          parts.delete(name);
        }
      },
      pids: () => ({
        ...engine_pids,
        driver: process.pid,
        ...Object.fromEntries([...parts].map(([name, { pid }]) => [name, pid])),
      }),
    });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await stop();
  }
}

const { PATH, COUNT_TIMERS } = process.env;
const COMMON_ENV = { PATH, COUNT_TIMERS, NODE_ENV: 'production' };

/** Those of a local mesh without a limit of requests, which keeps its event log unsealed. */
async function settingsOf({ urls }: Engines): Promise<Settings> {
  const { EVENT_LOG_KEYRING: _unsealed, ...settings } = meshSettings({
    ...(await freePorts()),
    ...urls,
    RATE_LIMIT_PER_SEC: '100000',
  });
  return { ...settings, DRAIN_MS: '0' };
}

interface Program {
  root: string;
  /** A compiled file below the root. */
  entry: string;
  env: NodeJS.ProcessEnv;
  /** The folder of its log. */
  dir: string;
}

function startPart(name: string, { root, entry, env, dir }: Program): Part {
  // The driver's own processes are not counted.
  const is_counted = process.env['BENCH_COUNTERS'] === '1' && !entry.startsWith('test/');
  const counters = is_counted ? ['--require', join(ROOT, 'test/dist/bench/counters.js')] : [];
  const args = [...profiling(name), ...FLAGS, ...counters, join(root, entry)];
  const log = openSync(join(dir, `${name}.log`), 'a');
  const ipc = is_counted ? (['ipc'] as const) : [];
  const stdio = ['ignore' as const, log, log, ...ipc];
  const child = spawn(process.execPath, args, { cwd: root, stdio, env });
  const exited = once(child, 'exit');
  return {
    pid: child.pid as number,
    metrics_port: Number(env['METRICS_PORT']),
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(late);
    },
    async counts() {
      if (!is_counted) return {};
      const answered = once(child, 'message');
      child.send('counts');
      const [counts] = (await answered) as [Record<string, number>];
      return counts;
    },
  };
}

/** BENCH_PROFILE=DIR writes a CPU profile of every process there. */
function profiling(name: string): string[] {
  const dir = process.env['BENCH_PROFILE'];
  return dir ? ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}.cpuprofile`] : [];
}

const EVENT = /"event":"(message\.\w+)"/;
const MESSAGE_ID = /"message_id":"([^"]+)"/;

type Receiver = ReturnType<typeof startReceiver>;

/** The events of one message that have arrived. */
interface Message {
  events: Set<string>;
  /** When the last one arrived. */
  at_ms: number;
  wanted: number;
  complete: () => void;
}

/** The receiver of all partners. */
function startReceiver(port: number) {
  const messages = new Map<string, Message>();
  let count = 0;
  let hanging = '';
  const held: Socket[] = [];
  const messageOf = (id: string): Message => {
    const fresh = { events: new Set<string>(), at_ms: 0, wanted: Infinity, complete: () => {} };
    const message = messages.get(id) ?? fresh;
    messages.set(id, message);
    return message;
  };
  const server = startWireServer(port, ({ path, body }, socket) => {
    if (path === hanging) return void held.push(socket);
    respond(socket, '{}');
    count += 1;
    const message = messageOf(MESSAGE_ID.exec(body)?.[1] ?? '');
    message.events.add(EVENT.exec(body)?.[1] ?? '');
    message.at_ms = now();
    if (message.events.size === message.wanted) message.complete();
  });
  return {
    url: `http://${HOST}:${port}`,
    /**
     * Returns the time of the last one once so many different events of a message have arrived,
     * which may be before the answer to the send.
     */
    async all(id: string, wanted: number): Promise<number | undefined> {
      const message = messageOf(id);
      message.wanted = wanted;
      if (message.events.size < wanted) {
        await new Promise<void>((done) => {
          const late = setTimeout(done, ARRIVAL_LIMIT_MS);
          message.complete = () => {
            clearTimeout(late);
            done();
          };
        });
      }
      messages.delete(id);
      return message.events.size < wanted ? undefined : message.at_ms;
    },
    /** Returns once as many events have arrived as `work` has posted. */
    async whole(work: () => Promise<Done>): Promise<Done> {
      const before = count;
      const done = await work();
      const left = (): number => before + done.count - count;
      for (const until = now() + ARRIVAL_LIMIT_MS; left() > 0; await sleep(LOOK_EVERY_MS)) {
        if (now() > until) throw new Error(`${left()} of ${done.count} events did not arrive`);
      }
      messages.clear();
      return done;
    },
    hang: (path: string) => void (hanging = path),
    heal(): void {
      hanging = '';
      for (const socket of held.splice(0)) respond(socket, '{}');
    },
    close: () => server.close(),
  };
}

/** What a load goes through: the mesh, or a bare chain. */
export type Path = ReturnType<typeof createPath>;
export type Mesh = Awaited<ReturnType<typeof startMesh>>;

interface Ends {
  bench: Bench;
  receiver: Receiver;
  places: Place[];
  gateway: string;
  ingress: string;
  /** The processes whose cost counts. */
  counts(part: string): boolean;
}

function createPath({ gateway, ingress, ...ends }: Ends) {
  const { receiver, places } = ends;
  const ask = createWireClient(gateway);
  const post = createWireClient(ingress);
  let sent = 0;
  const sendText = (text: string) => {
    const index = sent++;
    const { partner_key, waba_id } = places[index % places.length] as Place;
    const headers = { 'x-partner-key': partner_key, 'x-waba-id': waba_id, ...JSON_BODY };
    const body = JSON.stringify({ to: String(15_550_100_000 + (index % 9_999)), text });
    return ask(requestBytes(new URL(gateway), '/v1/messages/send', headers, body));
  };
  const wire = (body: string): Buffer => wireWebhook(ingress, body);
  const accepts = async (request: Buffer): Promise<boolean> => (await post(request)).status === OK;
  const send: Unit = async (due_ms) => {
    const { status } = await sendText(SILENT);
    return status === OK ? { send: now() - due_ms } : undefined;
  };
  /** One webhook until its event arrives; at other places than `wanted` only until its answer. */
  const event =
    (wanted: (place: number) => boolean = () => true): Unit =>
    async (due_ms) => {
      const { id, place, body } = webhook(places);
      if (!(await accepts(wire(body)))) return undefined;
      if (!wanted(place)) return {};
      const at_ms = now();
      const arrived = await receiver.all(id, 1);
      if (arrived === undefined) return undefined;
      // An event may arrive before its 200 is read here.
      const delivery = Math.max(0, arrived - at_ms);
      return { ingress: at_ms - due_ms, delivery, event: arrived - due_ms };
    };
  /** Posts a webhook without waiting for its event. */
  const accepted: Unit = async () => ((await accepts(wire(webhook(places).body))) ? {} : undefined);
  /** Posts all events as fast as they are accepted, until the last one has arrived. */
  async function backlog(events: number, items = 1): Promise<Done> {
    const bodies = Array.from({ length: events / items }, () => webhook(places, items).body);
    const posts = bodies.map(wire);
    return receiver.whole(async () => {
      const unit: Unit = async () => ((await accepts(posts.pop() as Buffer)) ? {} : undefined);
      const done = await inFlight(unit, WORKERS, () => posts.length > 0);
      return { ...done, count: done.count * items };
    });
  }
  return { ...ends, sendText, wire, accepts, send, event, accepted, backlog };
}

const JSON_BODY = { 'content-type': 'application/json' };
const OK = 200;
const STATUSES = 3;

/** A life in the mesh: a send until its statuses have arrived. */
function createLives({ sendText, receiver, bench }: Path) {
  const ids = new Set<string>();
  const life: Unit = async (due_ms) => {
    const { status, body } = await sendText('Your order is on its way.');
    const send = now() - due_ms;
    const id = MESSAGE_ID.exec(body)?.[1];
    if (status !== OK || id === undefined) return undefined;
    ids.add(id);
    const arrived = await receiver.all(id, STATUSES);
    return arrived === undefined ? undefined : { send, life: arrived - due_ms };
  };
  /** Fails unless each of these messages has the record of its last status. */
  async function recorded(): Promise<void> {
    const records = bench.mongo.db('messaging').collection('messages');
    const read = { message_id: { $in: [...ids] }, status: 'read' };
    const wanted = ids.size;
    ids.clear();
    await eventually(async () => {
      const found = await records.countDocuments(read);
      if (found < wanted) throw new Error(`${wanted - found} of ${wanted} messages are not read`);
      return true;
    }, RECORDS_LIMIT_MS);
  }
  return { life, recorded };
}

/** Starts all services, partners with one number each, and the stub to which messaging sends. */
export async function startMesh(bench: Bench, partners: number) {
  const { settings } = bench;
  const receiver = startReceiver(await freePort());
  const stub_port = String(await freePort());
  const stub_url = `http://${HOST}:${stub_port}`;
  bench.start('emulator', findProcess('emulator').entry, {});
  await Promise.all(
    SERVICE_NAMES.map((name) =>
      bench.startService(name, name, name === 'messaging' ? { UPSTREAM_URL: stub_url } : {}),
    ),
  );
  const places = await registerPartners(bench, receiver.url, partners);
  const accounts = places.map((place) => [place.phone_number_id, place.waba_id]);
  bench.start('stub', PARTS, {
    PART: 'stub',
    PORT: stub_port,
    STUB_ACCOUNTS: JSON.stringify(Object.fromEntries(accounts)),
  });
  await untilReachable(stub_url);
  const [gateway = '', ingress = ''] = [settings['PUBLIC_URL'], settings['INGRESS_URL']];
  const path = createPath({
    ...{ bench, receiver, places, gateway, ingress },
    counts: countsForMesh,
  });
  return { ...path, ...createLives(path), stub_url };
}

const untilReachable = (url: string): Promise<boolean> =>
  eventually(() => fetch(url).then(() => true), READY_LIMIT_MS);

/** Runs a mesh with so many partners for `work`. */
export const withMesh = <T>(
  partners: number,
  work: (mesh: Mesh) => Promise<T>,
  options?: BenchOptions,
): Promise<T> =>
  withBench(async (bench) => {
    const mesh = await startMesh(bench, partners);
    return work(mesh).finally(mesh.receiver.close);
  }, options);

/** Registers partners with one number each, which use one receiver, each with its own path. */
export async function registerPartners(
  { settings }: Bench,
  receiver_url: string,
  count: number,
): Promise<Place[]> {
  const emulator = new EmulatorClient(settings['EMULATOR_URL'] as string);
  const operator = createRpcClient(OperatorDefinition, settings['ONBOARDING_ADDR'] as string);
  const places: Place[] = [];
  for (let index = 0; index < count; index += 1) {
    const { partner_key } = await operator.rpc.createPartner(
      {
        name: `Bench ${index}`,
        webhook_url: `${receiver_url}/p${index}`,
        rate_limit_per_sec: 100_000,
        max_wabas: undefined,
      },
      ownCall(unsampled(), RPC_LIMIT_MS),
    );
    const account = await emulator.createAccount({ numbers: [{}], tokens: [{}] });
    const number = {
      waba_id: account.waba_id,
      phone_number_id: account.phone_number_ids[0] as string,
    };
    // Services that have just started may not have found each other.
    await eventually(async () => {
      const body = { ...number, access_token: account.tokens[0] };
      const headers = { 'x-partner-key': partner_key };
      const base_url = settings['BASE_URL'] as string;
      const answer = await callRest(base_url, 'POST', '/clients/register', body, headers);
      if (answer.status >= 300) throw new Error(`registration: ${JSON.stringify(answer.body)}`);
      return true;
    }, REACH_LIMIT_MS);
    places.push({ ...number, partner_key });
  }
  await operator.stop();
  return places;
}

export const SENDS = ['service', 'edge'];
export const EVENTS = ['ingress', 'fanout', 'deliver'];

/**
 * Starts the bare chains of a send and of an event, which call the stub and the receiver of the
 * mesh. The `storing` ones keep what the contract requires in Redis and MongoDB.
 */
export async function startFloor(
  mesh: Mesh,
  name: 'bare' | 'storing' = 'bare',
  parts: readonly string[] = [...SENDS, ...EVENTS],
) {
  const { bench, receiver, stub_url } = mesh;
  const ports: Record<string, number> = { edge: await freePort(), ingress: await freePort() };
  const urlOf = (part: string): string => `http://${HOST}:${ports[part]}`;
  const env = {
    SERVICE_ADDR: `${HOST}:${await freePort()}`,
    UPSTREAM_URL: stub_url,
    RECEIVER_URL: receiver.url,
    STORING: name === 'storing' ? '1' : '',
  };
  const start = async (wanted: readonly string[], suffix = ''): Promise<string[]> => {
    const names = wanted.map((part) => {
      const PORT = String(ports[part]);
      bench.start(`${name} ${part}${suffix}`, PARTS, { ...env, PART: part, PORT });
      return `${name} ${part}${suffix}`;
    });
    for (const part of wanted.filter((one) => one in ports)) await untilReachable(urlOf(part));
    await sleep(BARE_START_MS);
    return names;
  };
  const names = await start(parts);
  const engines = name === 'storing' ? ['kafka', 'mongo', 'redis'] : ['kafka'];
  const path = createPath({
    ...mesh,
    gateway: urlOf('edge'),
    ingress: urlOf('ingress'),
    counts: (part) => part.startsWith(`${name} `) || engines.includes(part),
  });
  /** A send, then an event for each status. */
  const life: Unit = async (due_ms) => {
    const sent = await path.send(due_ms);
    const arrived: Array<Promise<number | undefined>> = [];
    for (let event = 0; event < STATUSES; event += 1) {
      const { id, body } = webhook(mesh.places);
      if (!(await path.accepts(path.wire(body)))) return undefined;
      arrived.push(receiver.all(id, 1));
    }
    const failed = (await Promise.all(arrived)).includes(undefined);
    return sent && !failed ? { ...sent, life: now() - due_ms } : undefined;
  };
  const stop = (): Promise<void> => bench.stop(names);
  /** Starts second processes of the parts that read events. */
  const startSecond = (): Promise<string[]> => start(['fanout', 'deliver'], ' 2');
  return { ...path, life, stop, startSecond };
}
