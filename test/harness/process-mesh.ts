// The mesh as processes, started the way `make up` starts it, in a folder of its own on free ports: for
// tests that kill, stop and start parts of it. It runs what was built (make test builds first).
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { createRpcClient, ownCall, type RpcClient } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { OperatorDefinition, type CreatePartnerResponse } from '@bmg/proto/onboarding';
import {
  down,
  enginePid,
  freePort,
  pidOf,
  startEngine,
  startService,
  up,
  type EngineName,
  type MeshProcessName,
} from '@bmg/local';
import { EmulatorClient } from '../emulator/client';
import { eventually } from '../testkit/eventually';
import { callRest, ONE, type Answer, type SeededNumber } from '../testkit/rest';

/** The services of one folder. */
export interface Processes {
  dir: string;
  pid(name: MeshProcessName): number;
  /** Ends a process at once, without a chance to tidy up. */
  kill(name: MeshProcessName): Promise<void>;
  /** Asks a process to stop, and waits until it has. */
  terminate(name: MeshProcessName): Promise<void>;
  /** Resolves once it is ready. */
  start(name: MeshProcessName): Promise<void>;
  /** Everything that the processes have written. */
  logs(): Record<string, string>;
}

export interface ProcessMesh extends Processes {
  /** Where partners call. */
  base_url: string;
  settings: Record<string, string>;
  /** What the processes get beside their settings. */
  env: NodeJS.ProcessEnv;
  emulator: EmulatorClient;
  createPartner(webhook_url: string, name?: string): Promise<ProcessPartner>;
  killEngine(name: EngineName): Promise<void>;
  startEngine(name: EngineName): Promise<void>;
  stop(): Promise<void>;
}

export interface ProcessPartner extends CreatePartnerResponse {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  register(number?: SeededNumber): Promise<Answer>;
}

export const CALLED = [
  'ONBOARDING',
  'MESSAGING',
  'TEMPLATES',
  'BROADCASTS',
  'NUMBER_ADMIN',
  'WEBHOOKS',
];
const EXIT_LIMIT_MS = 30_000;
const CALL_LIMIT_MS = 15_000;
const ENGINES: EngineName[] = ['kafka', 'mongo', 'redis'];

export interface ProcessMeshOptions {
  /** 'own' starts engines that may be killed; otherwise those of the test run are shared. */
  engines?: 'own' | 'shared';
  env?: Record<string, string>;
  /** Where partners call, when that is not the gateway itself. */
  base_url?: string;
}

export async function startProcessMesh(options: ProcessMeshOptions = {}): Promise<ProcessMesh> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-mesh-'));
  const run = randomBytes(5).toString('hex');
  const own = options.engines === 'own';
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DRAIN_MS: '50',
    MONGO_DATABASE_PREFIX: `p${run}-`,
    KAFKA_TOPIC_PREFIX: `p${run}.`,
    REDIS_KEY_PREFIX: `p${run}:`,
    KEY_PEPPER: 'process-test-pepper',
  };
  for (const name of ['GATEWAY_PORT', 'INGRESS_PORT', 'EMULATOR_PORT']) {
    env[name] = String(await freePort());
  }
  for (const name of CALLED) env[`${name}_ADDR`] = `127.0.0.1:${await freePort()}`;
  for (const name of [...CALLED, 'GATEWAY', 'FANOUT']) {
    env[`${name}_METRICS_PORT`] = String(await freePort());
  }
  if (own) {
    for (const name of ENGINES) env[`${name.toUpperCase()}_PORT`] = String(await freePort());
  } else {
    for (const name of ['MONGO_URL', 'KAFKA_BROKERS', 'REDIS_URL']) env[name] = process.env[name];
  }
  Object.assign(env, options.env);
  const { settings } = await up({ dir, env, log });
  const emulator = new EmulatorClient(settings['EMULATOR_URL'] as string);
  const { base_url = settings['BASE_URL'] as string } = options;
  const operator: RpcClient<OperatorDefinition> = createRpcClient(
    OperatorDefinition,
    settings['ONBOARDING_ADDR'] as string,
  );
  return {
    ...processesIn(dir, env),
    base_url,
    settings,
    env,
    emulator,
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
      const request: ProcessPartner['call'] = (method, path, body, headers = {}) =>
        callRest(base_url, method, path, body, {
          'x-partner-key': created.partner_key,
          ...headers,
        });
      return {
        ...created,
        call: request,
        register: (number = ONE) => request('POST', '/clients/register', number),
      };
    },
    async stop() {
      await operator.stop();
      await down({ dir, log });
      rmSync(dir, { recursive: true, force: true });
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
    async start(name) {
      await startService(name, { dir, env, log });
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
  await eventually(() => !isAlive(id), EXIT_LIMIT_MS);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    return false;
  }
}

/** A child of a process that does not wait for it keeps its number after its end. */
function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/\(.*\)/s, ''));
  } catch {
    return false;
  }
}
