// Starts what a benchmark loads: a mesh with partners and their receiver, and the bare chains.
import { setTimeout as sleep } from 'node:timers/promises';
import { createRpcClient, ownCall } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { freePort, SERVICE_NAMES, SERVICES, type ServiceName } from '@bmg/local';
import { EmulatorClient } from '../emulator/client';
import { aText, createLoad, type Load, type Place, type Shot } from './load';
import type { Bench } from './processes';

export const HOST = '127.0.0.1';
export const SETTLE_MS = 1_500;
const PARTS = 'test/dist/bench/parts.js';
/** The processes of the bare chain of events join their groups at Kafka. */
const BARE_START_MS = 10_000;
const ARRIVAL_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 100;
const RPC_LIMIT_MS = 10_000;
const REACH_LIMIT_MS = 20_000;

export interface Setup {
  bench: Bench;
  load: Load;
  receiver: ReceiverControl;
  receiver_url: string;
  /** The gateway's address. */
  gateway: string;
  places: Place[];
  pids: Record<string, number>;
}

interface MeshOptions {
  partners: number;
  /** All services unless given. */
  services?: readonly ServiceName[];
  /** Messaging sends to the stub of the upstream, which posts `statuses` of each send or none. */
  stub?: 'silent' | 'statuses';
  /** The port of a receiver in this process. */
  own_port?: number;
}

export async function prepareMesh(
  bench: Bench,
  { partners, services = SERVICE_NAMES, stub, own_port }: MeshOptions,
): Promise<Setup> {
  const receiver_port = own_port ?? (await freePort());
  const receiver_url = `http://${HOST}:${receiver_port}`;
  const pids: Record<string, number> = {};
  const start = (name: string, entry: string, env?: NodeJS.ProcessEnv): void => {
    pids[name] = bench.start(name, entry, env).pid;
  };
  if (own_port === undefined) {
    start('receiver', PARTS, { PART: 'receiver', PORT: String(receiver_port) });
  }
  start('emulator', 'test/dist/emulator/main.js');
  const UPSTREAM_URL = `http://${HOST}:${bench.port('stub')}`;
  for (const name of services) {
    const env = name === 'messaging' && stub ? { UPSTREAM_URL } : {};
    start(name, `${SERVICES[name].workspace}/dist/main.js`, env);
  }
  for (const { name, pid } of bench.engines.started) pids[name] = pid;
  pids['driver'] = process.pid;
  await bench.ready(...services);
  const places = await registerPartners(bench, receiver_url, partners);
  const ingress = `http://${HOST}:${bench.port('ingress')}`;
  if (stub) {
    const accounts = places.map((place) => [place.phone_number_id, place.waba_id]);
    start('stub', PARTS, {
      PART: 'stub',
      PORT: String(bench.port('stub')),
      ...(stub === 'statuses' && {
        STUB_WEBHOOKS: ingress,
        STUB_ACCOUNTS: JSON.stringify(Object.fromEntries(accounts)),
      }),
    });
  }
  await sleep(SETTLE_MS);
  return {
    bench,
    load: createLoad(ingress),
    receiver: receiverControl(receiver_url),
    receiver_url,
    gateway: `http://${HOST}:${bench.port('gateway')}`,
    places,
    pids,
  };
}

/** Registers partners with one number each; all use one receiver, each with its own path. */
export async function registerPartners(
  bench: Bench,
  receiver_url: string,
  count: number,
): Promise<Place[]> {
  const emulator = new EmulatorClient(bench.env['UPSTREAM_URL'] as string);
  const operator = createRpcClient(OperatorDefinition, bench.env['ONBOARDING_ADDR'] as string);
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
    const { waba_id } = account;
    const number = { waba_id, phone_number_id: account.phone_number_ids[0] as string };
    await register(bench, partner_key, { ...number, access_token: account.tokens[0] });
    places.push({ ...number, partner_key });
  }
  await operator.stop();
  return places;
}

async function register(bench: Bench, partner_key: string, number: object): Promise<void> {
  for (const until = Date.now() + REACH_LIMIT_MS; ;) {
    const answer = await fetch(`http://${HOST}:${bench.port('gateway')}/v1/clients/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-partner-key': partner_key },
      body: JSON.stringify(number),
    });
    if (answer.ok) return;
    // Services that have just started may not have found each other.
    if (answer.status !== 503 || Date.now() > until) {
      throw new Error(`registration: ${answer.status} ${await answer.text()}`);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Controls the receiver of parts.ts. */
export interface ReceiverControl {
  count(): Promise<number>;
  until(count: number): Promise<void>;
  /** Returns the first arrival of each event, and clears the record. */
  report(): Promise<Map<string, number>>;
  hang(path: string): Promise<void>;
  heal(): Promise<void>;
}

function receiverControl(url: string): ReceiverControl {
  // any: two shapes
  const ask = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as any;
  const count = async (): Promise<number> => (await ask('/count')).count;
  return {
    count,
    async until(wanted) {
      const until = Date.now() + ARRIVAL_LIMIT_MS;
      while ((await count()) < wanted) {
        if (Date.now() > until) throw new Error(`${await count()} of ${wanted} events arrived`);
        await sleep(LOOK_EVERY_MS);
      }
    },
    async report() {
      const { arrivals } = (await ask('/report')) as { arrivals: Array<[string, number]> };
      // Reversed, so that the first of several arrivals of an event stays.
      return new Map(arrivals.reverse());
    },
    hang: async (path) => void (await ask(`/hang?path=${path}`)),
    heal: async () => void (await ask('/heal')),
  };
}

interface BareSends {
  shot: Shot;
  /** The names of its processes, which join `pids`. */
  parts: string[];
}

/**
 * Starts the bare chain of sends, which calls the stub. `storing` adds a count in Redis and a
 * record in MongoDB for each request.
 */
export async function startBareSends(
  { bench, pids }: Pick<Setup, 'bench' | 'pids'>,
  name: 'bare' | 'storing' = 'bare',
): Promise<BareSends> {
  const port = await freePort();
  const env = {
    SERVICE_ADDR: `${HOST}:${await freePort()}`,
    PORT: String(port),
    UPSTREAM_URL: `http://${HOST}:${bench.port('stub')}`,
    ...(name === 'bare' && { REDIS_URL: '', MONGO_URL: '' }),
  };
  const parts = ['service', 'edge'].map((half) => {
    const part = `${name} ${half}`;
    pids[part] = bench.start(part, PARTS, { ...env, PART: half }).pid;
    return part;
  });
  return { shot: { origin: `http://${HOST}:${port}`, path: '/', headers: {}, body: aText }, parts };
}

/** A bare chain of events with the partners of a mesh; `pids` has its own parts and engines. */
export interface BareEvents extends Setup {
  parts: string[];
  ingress: URL;
  /** Starts second processes of these parts; returns their names. */
  startBeside(parts: readonly string[]): Promise<string[]>;
}

/**
 * Starts the bare chain of events, which posts to the receiver of the mesh. `database` is where it
 * stores the events, by partner.
 */
export async function startBareEvents(setup: Setup, database?: string): Promise<BareEvents> {
  const port = await freePort();
  const { kafka = 0, mongo = 0 } = setup.pids;
  const pids: Record<string, number> = { kafka, ...(database !== undefined && { mongo }) };
  const start = async (parts: readonly string[], suffix = ''): Promise<string[]> => {
    const names = parts.map((part) => {
      const name = `bare-${part}${suffix}`;
      pids[name] = setup.bench.start(name, PARTS, {
        PART: part,
        PORT: String(port),
        RECEIVER_URL: setup.receiver_url,
        ...(database !== undefined && { BARE_DATABASE: database }),
      }).pid;
      return name;
    });
    await sleep(BARE_START_MS);
    return names;
  };
  const parts = await start(['ingress', 'fanout', 'deliver']);
  const ingress = new URL(`http://${HOST}:${port}`);
  const load = createLoad(ingress.origin);
  return { ...setup, load, ingress, pids, parts, startBeside: (names) => start(names, ' 2') };
}
