// Starts the processes of the mesh that are not running and waits until all are healthy.
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { ignoredNames, joinEngines, joinSettings, readEnv, writeEnv } from './settings';
import { LocalError, messageOf } from './errors';
import { untilHealthy } from './health';
import {
  findProcess,
  listening,
  pidOf,
  processEnv,
  runningIn,
  wantedProcesses,
  type MeshProcess,
  type MeshProcessName,
  type ProcessName,
  type Settings,
} from './mesh';
import { ROOT, RUN_DIR } from './paths';
import { requireFree } from './ports';
import { launch, type Log } from './processes';
import { NODE_FLAGS } from './services';
import { startEngines } from './start-engines';

export interface UpOptions {
  /** Folder for the pid and log files, the data and `env`. Default: `.run` in the repository. */
  dir?: string;
  /** Settings that override the local defaults. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  log?: Log;
  /** Where the built services are. Default: this repository. */
  root?: string;
  health_limit_ms?: number;
}

export interface Mesh {
  /** The content of `.run/env`. */
  settings: Settings;
  /** The processes that this call started: for `down({ names })`. */
  started: ProcessName[];
}

/**
 * Starts the engines and services that are not running. When it fails, the processes started so far
 * keep running so that they can be inspected; the LocalError names them in `started`.
 */
export async function up(options: UpOptions = {}): Promise<Mesh> {
  const { root = ROOT, health_limit_ms: limit_ms } = options;
  const { dir, env, log, recorded } = openFolder(options);
  const settings = joinSettings(env, recorded);
  const wanted = wantedProcesses(settings);
  const missing = wanted.filter(({ name }) => pidOf(name, dir) === undefined);
  requireBuilt(missing, root);
  await requireFree(missing.flatMap((one) => listening(one, settings)));

  const started: ProcessName[] = [];
  try {
    const engines = await startEngines({ dir, log, ...joinEngines(dir, env, recorded) });
    started.push(...engines.started.map(({ name }) => name));
    Object.assign(settings, engines.urls);
    writeEnv(dir, settings);
    for (const one of missing) {
      await launchProcess(one, { dir, env, root, settings });
      started.push(one.name);
    }
    if (missing.length > 0) log(`started ${missing.map(({ name }) => name).join(', ')}`);
    const progress = missing.length > 0 ? log : undefined;
    await untilHealthy(wanted, { dir, settings, log: progress, limit_ms });
  } catch (error) {
    throw new LocalError(messageOf(error), started);
  }
  return { settings, started };
}

/** Starts only the engines, in the same folder, so that a later `up` uses them. */
export async function upEngines(options: UpOptions = {}): Promise<Mesh> {
  const { dir, env, log, recorded } = openFolder(options);
  const engines = await startEngines({ dir, log, ...joinEngines(dir, env, recorded) });
  const settings = { ...recorded, ...engines.urls };
  writeEnv(dir, settings);
  return { settings, started: engines.started.map(({ name }) => name) };
}

/**
 * Restarts one process of a running mesh with the mesh's settings, for tests that killed it.
 * `changed` replaces some of them for this start.
 */
export async function startService(
  name: MeshProcessName,
  options: UpOptions & { changed?: Settings } = {},
): Promise<void> {
  const { env = process.env, root = ROOT } = options;
  const dir = path.resolve(options.dir ?? RUN_DIR);
  const wanted = findProcess(name);
  const settings = { ...readEnv(dir), ...options.changed };
  if (settings['BASE_URL'] === undefined) throw new LocalError(`no mesh is running in ${dir}`);
  if (pidOf(name, dir) !== undefined) return;
  requireBuilt([wanted], root);
  await requireFree(listening(wanted, settings));
  await launchProcess(wanted, { dir, env, root, settings });
  await untilHealthy([wanted], { dir, settings, limit_ms: options.health_limit_ms });
}

interface Place {
  dir: string;
  env: NodeJS.ProcessEnv;
  root: string;
  settings: Settings;
}

async function launchProcess(wanted: MeshProcess, place: Place): Promise<void> {
  const { dir, env, root, settings } = place;
  const { name, entry } = wanted;
  // The emulator is not part of the product, so it is not traced.
  const flags = name === 'emulator' ? ['--enable-source-maps'] : NODE_FLAGS;
  await launch({
    dir,
    name,
    command: process.execPath,
    args: [...flags, entry],
    cwd: root,
    env: {
      ...(name === 'emulator' && { EMULATOR_DATA_DIR: path.join(dir, 'emulator') }),
      ...(name === 'messaging' && { SEND_JOURNAL_DIR: dir }),
      ...processEnv(wanted, env, settings),
    },
  });
}

function requireBuilt(wanted: MeshProcess[], root: string): void {
  const unbuilt = wanted.filter(({ entry }) => !existsSync(path.join(root, entry)));
  if (unbuilt.length === 0) return;
  const names = unbuilt.map(({ entry }) => entry).join(', ');
  throw new LocalError(`not built: ${names}. Run make build-tests first`);
}

/** The folder of a start, and the settings of what runs there already. */
function openFolder({ dir: given = RUN_DIR, env = process.env, log = console.log }: UpOptions) {
  const dir = path.resolve(given);
  mkdirSync(dir, { recursive: true });
  const recorded = runningIn(dir).length > 0 ? readEnv(dir) : {};
  const ignored = ignoredNames(env, recorded);
  if (ignored.length > 0) {
    log(
      `the running mesh keeps its settings ${ignored.join(', ')}: run make down first to change them`,
    );
  }
  return { dir, env, log, recorded };
}
