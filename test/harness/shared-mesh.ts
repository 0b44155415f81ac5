// The mesh that all test files of a jest worker share: one process, started by the first file that
// needs it. Each file gets new partners and a new world in the emulator (other IDs for the same
// accounts), so that it does not see data of earlier files.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ServiceName } from '@bmg/local';
import { EmulatorClient } from '../emulator/client';
import { eventually } from '../testkit/eventually';
import { createMeshView, suspend, type Mesh } from './mesh-view';
import { ONE, runDir, WORLD } from './world';

export type { Mesh, TestPartner } from './mesh-view';
export { ONE, TWO_A, TWO_B } from './world';
export { callRest, type Answer, type SeededNumber } from '../testkit/rest';

/** The file that the host writes once everything is ready. */
export interface HostedMesh {
  pid: number;
  control_url: string;
  base_url: string;
  ingress_url: string;
  emulator_url: string;
  env: NodeJS.ProcessEnv;
}

const HOST = resolve(__dirname, '../dist/harness/mesh-host.js');
/** Production preloads it too: without it all trace IDs are zero. */
const TELEMETRY = resolve(__dirname, '../../services/common/dist/telemetry/register.js');
/**
 * The time limit of a hook that joins: the first file of a worker starts the mesh, maybe beside
 * another's.
 */
export const JOIN_LIMIT_MS = 240_000;
const START_LIMIT_MS = 180_000;
const STARTS_MAX = 3;

/**
 * Joins the worker's mesh with a new world. Settings in `changed` apply to `services`, which are
 * restarted with them, and restarted without them when the file ends.
 */
export async function joinMesh(
  changed: NodeJS.ProcessEnv = {},
  services: readonly ServiceName[] = [],
): Promise<Mesh> {
  const hosted = await hostedMesh();
  const emulator = new EmulatorClient(hosted.emulator_url);
  const control = async (action: 'start' | 'stop', name: ServiceName, env = {}): Promise<void> => {
    const answer = await fetch(`${hosted.control_url}/${action}/${name}`, {
      method: 'POST',
      body: JSON.stringify(env),
    });
    if (!answer.ok)
      throw new Error(`the mesh host failed to ${action} ${name}: ${await answer.text()}`);
  };
  const restart = async (env: NodeJS.ProcessEnv): Promise<void> => {
    await Promise.all(services.map((name) => control('stop', name)));
    await Promise.all(services.map((name) => control('start', name, env)));
    await healthy(hosted.base_url);
  };
  await emulator.reset(WORLD);
  if (services.length > 0) await restart(changed);
  return createMeshView({
    base_url: hosted.base_url,
    ingress_url: hosted.ingress_url,
    emulator,
    env: { ...hosted.env, ...changed },
    startService: (name, env) => control('start', name, env),
    stopService: (name) => control('stop', name),
    first_number: ONE,
    async close({ operator, call }, partners) {
      // Deliveries that still wait for these partners must not keep the next file's mesh busy.
      await Promise.all(partners.map(({ partner_id }) => suspend(partner_id, operator, call())));
      if (services.length > 0) await restart({});
    },
  });
}

async function hostedMesh(): Promise<HostedMesh> {
  // A worker that replaces another gets a mesh of its own: the other's ended with it.
  const file = join(runDir(), `mesh-${process.pid}.json`);
  if (!existsSync(file)) start(file);
  return eventually(() => JSON.parse(readFileSync(file, 'utf8')) as HostedMesh, START_LIMIT_MS);
}

/**
 * The host ends with the worker, because their IPC channel closes. One that does not start, because
 * another process took its port, is started again.
 */
function start(file: string, starts = 1): void {
  const host = spawn(
    process.execPath,
    ['--enable-source-maps', '--require', TELEMETRY, HOST, file],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  );
  host.once('exit', () => {
    if (!existsSync(file) && starts < STARTS_MAX) start(file, starts + 1);
  });
  host.unref();
  host.channel?.unref();
}

const healthy = (base_url: string): Promise<unknown> =>
  eventually(async () => {
    const health = (await (await fetch(`${base_url}/health`)).json()) as { status: string };
    return health.status === 'ok';
  }, START_LIMIT_MS);
