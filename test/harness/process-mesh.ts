// The mesh as processes, started the way `make up` starts it, in a separate folder on free ports:
// for tests that kill, stop and start parts of it. It runs the compiled code (make test builds
// first).
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRpcClient, ownCall, type Client, type RpcClient } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { OperatorDefinition, type CreatePartnerResponse } from '@bmg/proto/onboarding';
import {
  down,
  enginePid,
  freePort,
  freePorts,
  pidOf,
  startEngine,
  startService,
  up,
  type EngineName,
  type MeshProcessName,
} from '@bmg/local';
import { EmulatorClient } from '../emulator/client';
import { uncommitted } from '../testkit/committed-offsets';
import { eventually } from '../testkit/eventually';
import { hasEnded } from '../testkit/signal-process';
import { callsOf, suspend, type PartnerCalls } from './mesh-view';
import { ENGINES_LIVE_SHORT, ONE, ownNames, runDir, WORLD } from './world';

export { ONE, TWO_A, TWO_B } from './world';

/** The services of one folder. */
export interface Processes {
  dir: string;
  pid(name: MeshProcessName): number;
  /** Kills a process at once, without a graceful shutdown. */
  kill(name: MeshProcessName): Promise<void>;
  /** Sends SIGTERM, and waits until the process has exited. */
  terminate(name: MeshProcessName): Promise<void>;
  /** Resolves once it is ready; `changed` are settings for this start only. */
  start(name: MeshProcessName, changed?: Record<string, string>): Promise<void>;
  /** The complete output of the processes. */
  logs(): Record<string, string>;
}

export interface ProcessMesh extends Processes {
  /** Where partners call. */
  base_url: string;
  settings: Record<string, string>;
  /** Environment of the processes beside their settings. */
  env: NodeJS.ProcessEnv;
  emulator: EmulatorClient;
  createPartner(webhook_url?: string, name?: string): Promise<ProcessPartner>;
  /** Replaces the partner's key. */
  rotateKey(partner: ProcessPartner): Promise<ProcessPartner>;
  /** Fails unless every consumer group commits what has been published, within `limit_ms`. */
  expectCommitted(limit_ms: number): Promise<void>;
  killEngine(name: EngineName): Promise<void>;
  startEngine(name: EngineName): Promise<void>;
  stop(): Promise<void>;
}

export type ProcessPartner = CreatePartnerResponse & PartnerCalls;

const CALL_LIMIT_MS = 60_000;
const ENGINES: EngineName[] = ['kafka', 'mongo', 'redis'];
export const ENGINE_URLS = ['MONGO_URL', 'KAFKA_BROKERS', 'REDIS_URL'];

export interface ProcessMeshOptions {
  env?: Record<string, string>;
  /** Where partners call, when that is not the gateway itself. */
  base_url?: string;
  /** Engines for this mesh only, which `env` can configure. */
  own_engines?: boolean;
  /** Folder of its logs and data, kept when the mesh stops. Default: a temporary one. */
  dir?: string;
}

/** A mesh for one test file, on the engines of the test run unless it has its own. */
export async function startProcessMesh(options: ProcessMeshOptions = {}): Promise<ProcessMesh> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'bmg-mesh-'));
  const env = { ...(await newPlace()), ...options.env };
  if (options.own_engines) Object.assign(env, await enginePorts(), options.env);
  else for (const name of ENGINE_URLS) env[name] = process.env[name];
  return openProcessMesh(dir, env, {
    base_url: options.base_url,
    async close() {
      await down({ dir, log });
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  });
}

/**
 * The mesh of processes that the files of a run share, with engines of its own: all of them may be
 * killed. The first file starts it, a later one starts what is missing. The files run in one worker
 * (jest.config.js).
 */
export async function joinProcessMesh(): Promise<ProcessMesh> {
  const dir = join(runDir(), 'processes');
  const place = `${dir}.json`;
  if (!existsSync(place)) {
    const env = { ...(await newPlace()), ...(await enginePorts()), LOG_LEVEL: 'warn' };
    writeFileSync(place, JSON.stringify(env));
  }
  const env = JSON.parse(readFileSync(place, 'utf8')) as NodeJS.ProcessEnv;
  return openProcessMesh(dir, env, {
    async close(operator, partners) {
      // Deliveries that still wait for them must not keep the next file's mesh busy.
      await Promise.all(
        partners.map((id) => suspend(id, operator, ownCall(unsampled(), CALL_LIMIT_MS))),
      );
    },
  });
}

/** Free ports for engines that the mesh starts. */
export async function enginePorts(): Promise<NodeJS.ProcessEnv> {
  const env: NodeJS.ProcessEnv = {};
  for (const name of ENGINES) env[`${name.toUpperCase()}_PORT`] = String(await freePort());
  return env;
}

/** Free ports, and separate names in the engines. */
export const newPlace = async (): Promise<NodeJS.ProcessEnv> => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ...ENGINES_LIVE_SHORT,
  ...ownNames('p'),
  ...(await freePorts()),
  DRAIN_MS: '50',
  KEY_PEPPER: 'process-test-pepper',
});

interface Opened {
  base_url?: string | undefined;
  /** Closes the file's connections and receivers, before the operator's connection closes. */
  close(operator: Client<OperatorDefinition>, partner_ids: string[]): Promise<void>;
}

async function openProcessMesh(
  dir: string,
  env: NodeJS.ProcessEnv,
  { close, ...opened }: Opened,
): Promise<ProcessMesh> {
  const { settings } = await up({ dir, env, log });
  const emulator = new EmulatorClient(settings['EMULATOR_URL'] as string);
  await emulator.reset(WORLD);
  const { base_url = settings['BASE_URL'] as string } = opened;
  const operator: RpcClient<OperatorDefinition> = createRpcClient(
    OperatorDefinition,
    settings['ONBOARDING_ADDR'] as string,
  );
  const partner_ids: string[] = [];
  return {
    ...processesIn(dir, env),
    base_url,
    settings,
    env,
    emulator,
    async expectCommitted(limit_ms) {
      const brokers = settings['KAFKA_BROKERS'] as string;
      const prefix = String(env['KAFKA_TOPIC_PREFIX']);
      const found = await uncommitted({ brokers, prefix }, limit_ms);
      if (found.length > 0) throw new Error(`not committed: ${found.join(', ')}`);
    },
    async killEngine(name) {
      const id = enginePid(name, dir);
      if (id === undefined) throw new Error(`${name} does not run`);
      await end(id, 'SIGKILL');
    },
    async startEngine(name) {
      await startEngine(name, { dir, env, log });
    },
    async createPartner(webhook_url, name = 'A partner') {
      const created = await operator.rpc.createPartner(
        { name, webhook_url, rate_limit_per_sec: 10_000, max_wabas: undefined },
        ownCall(unsampled(), CALL_LIMIT_MS),
      );
      partner_ids.push(created.partner_id);
      return { ...created, ...callsOf(created, base_url, ONE) };
    },
    async rotateKey(partner) {
      const { partner_key } = await operator.rpc.rotateKey(
        { partner_id: partner.partner_id, overlap_hours: undefined },
        ownCall(unsampled(), CALL_LIMIT_MS),
      );
      const rotated = { ...partner, partner_key };
      return { ...rotated, ...callsOf(rotated, base_url, ONE) };
    },
    async stop() {
      await close(operator.rpc, partner_ids);
      await operator.stop();
    },
  };
}

const log = (): void => undefined;

export function processesIn(dir: string, env: NodeJS.ProcessEnv): Processes {
  const pid = (name: MeshProcessName): number => {
    const found = pidOf(name, dir);
    if (found === undefined) throw new Error(`${name} does not run`);
    return found;
  };
  return {
    dir,
    pid,
    kill: (name) => end(pid(name), 'SIGKILL'),
    terminate: (name) => end(pid(name), 'SIGTERM'),
    async start(name, changed = {}) {
      await startService(name, { dir, env, changed, log });
    },
    logs: () =>
      Object.fromEntries(
        readdirSync(dir)
          .filter((file) => file.endsWith('.log'))
          .map((file) => [file.slice(0, -4), readFileSync(join(dir, file), 'utf8')]),
      ),
  };
}

async function end(id: number, signal: NodeJS.Signals): Promise<void> {
  process.kill(id, signal);
  await eventually(() => hasEnded(id));
}
