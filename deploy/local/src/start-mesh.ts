// Starts what is missing of the mesh and waits until all of it can work.
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { readEnv, writeEnv } from './env-file';
import { LocalError, messageOf } from './errors';
import { untilHealthy } from './health';
import {
  findProcess,
  listening,
  processEnv,
  wantedProcesses,
  type MeshProcess,
  type MeshProcessName,
  type ProcessName,
  type Settings,
} from './mesh';
import { ROOT, RUN_DIR } from './paths';
import { requireFree } from './ports';
import { launch, type Log } from './processes';
import { pidOf, runningIn } from './running';
import { ignoredNames, joinEngines, joinSettings } from './settings';
import { startEngines } from './start-engines';

export interface UpOptions {
  /** Folder of the pid and log files, the data and `env`. Default: `.run` in the repository. */
  dir?: string;
  /** Settings that win over the local defaults. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  log?: Log;
  /** Where the built services are. Default: this repository. */
  root?: string;
  health_limit_ms?: number;
}

export interface Mesh {
  /** What `.run/env` holds. */
  settings: Settings;
  /** What this call has started: for `down({ names })`. */
  started: ProcessName[];
}

/**
 * A fault's error has `started` too: what had been started before it is left running, to be looked
 * at.
 */
export async function up(options: UpOptions = {}): Promise<Mesh> {
  const { env = process.env, log = console.log, root = ROOT } = options;
  const dir = path.resolve(options.dir ?? RUN_DIR);
  mkdirSync(dir, { recursive: true });
  const recorded = runningIn(dir).length > 0 ? readEnv(dir) : {};
  tellIgnored(env, recorded, log);
  const settings = joinSettings(env, recorded);
  const wanted = wantedProcesses(settings);
  const missing = wanted.filter(({ name }) => pidOf(name, dir) === undefined);
  requireBuilt(missing, root);
  await requireFree(missing.flatMap((one) => listening(one, settings)));

  const started: ProcessName[] = [];
  try {
    const engines = await startEngines({ dir, log, ...joinEngines(dir, env, recorded) });
    started.push(...engines.started.map(({ name }) => name));
    const { MONGO_URL, KAFKA_BROKERS, REDIS_URL } = engines;
    Object.assign(settings, { MONGO_URL, KAFKA_BROKERS, REDIS_URL });
    writeEnv(dir, settings);
    for (const one of missing) {
      await launchProcess(one, { dir, env, root, settings });
      started.push(one.name);
    }
    if (missing.length > 0) log(`started ${missing.map(({ name }) => name).join(', ')}`);
    await untilHealthy(wanted, { dir, settings, ...limitOf(options) });
  } catch (error) {
    throw new LocalError(messageOf(error), started);
  }
  return { settings, started };
}

const limitOf = ({ health_limit_ms }: UpOptions) =>
  health_limit_ms === undefined ? {} : { limit_ms: health_limit_ms };

/** The engines alone, in the same folder, so that a later `up` uses them. */
export async function upEngines(options: UpOptions = {}): Promise<Mesh> {
  const { env = process.env, log = console.log } = options;
  const dir = path.resolve(options.dir ?? RUN_DIR);
  mkdirSync(dir, { recursive: true });
  const recorded = runningIn(dir).length > 0 ? readEnv(dir) : {};
  tellIgnored(env, recorded, log);
  const engines = await startEngines({ dir, log, ...joinEngines(dir, env, recorded) });
  const { MONGO_URL, KAFKA_BROKERS, REDIS_URL } = engines;
  const settings = { ...recorded, MONGO_URL, KAFKA_BROKERS, REDIS_URL };
  writeEnv(dir, settings);
  return { settings, started: engines.started.map(({ name }) => name) };
}

/**
 * One service of a mesh that is up, with the settings of that mesh: for a test that has killed it.
 */
export async function startService(
  name: MeshProcessName,
  options: UpOptions = {},
): Promise<{ pid: number; started: boolean }> {
  const { env = process.env, root = ROOT } = options;
  const dir = path.resolve(options.dir ?? RUN_DIR);
  const wanted = findProcess(name);
  const settings = readEnv(dir);
  if (settings['BASE_URL'] === undefined) throw new LocalError(`no mesh is up in ${dir}`);
  const running = pidOf(name, dir);
  if (running !== undefined) return { pid: running, started: false };
  requireBuilt([wanted], root);
  await requireFree(listening(wanted, settings));
  const pid = await launchProcess(wanted, { dir, env, root, settings });
  await untilHealthy([wanted], { dir, settings, ...limitOf(options) });
  return { pid, started: true };
}

interface Place {
  dir: string;
  env: NodeJS.ProcessEnv;
  root: string;
  settings: Settings;
}

async function launchProcess(wanted: MeshProcess, place: Place): Promise<number> {
  const { dir, env, root, settings } = place;
  const { name, entry } = wanted;
  // The emulator is no part of the product, so it is not traced with it.
  const preload = name === 'emulator' ? [] : ['--require', '@bmg/common/telemetry/register'];
  const { pid } = await launch({
    dir,
    name,
    command: process.execPath,
    args: ['--enable-source-maps', ...preload, entry],
    cwd: root,
    env: processEnv(wanted, env, settings),
  });
  return pid;
}

function requireBuilt(wanted: MeshProcess[], root: string): void {
  const unbuilt = wanted.filter(({ entry }) => !existsSync(path.join(root, entry)));
  if (unbuilt.length === 0) return;
  const names = unbuilt.map(({ entry }) => entry).join(', ');
  throw new LocalError(`not built: ${names}. Run make build first`);
}

function tellIgnored(env: NodeJS.ProcessEnv, recorded: Settings, log: Log): void {
  const names = ignoredNames(env, recorded);
  if (names.length === 0) return;
  log(`the running mesh keeps its own ${names.join(', ')}: make down first to change that`);
}
