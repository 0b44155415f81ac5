// Starts, finds and stops the three engines. An engine that already runs in the folder is used; one
// that has stopped starts again on its old port with its data.
import * as fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, EngineCommand, EngineName, EnginePlace } from './engine';
import { kafka } from './engine-kafka';
import { mongo } from './engine-mongo';
import { redis } from './engine-redis';
import { LocalError } from './errors';
import { freePort, parsePort, portTaken, becomesFree } from './ports';
import {
  findPid,
  isOurs,
  launch,
  logFile,
  logSince,
  logTail,
  stopProcess,
  type Launched,
  type Log,
} from './processes';

export const ENGINES: Record<EngineName, Engine> = { kafka, mongo, redis };
export const ENGINE_NAMES = Object.keys(ENGINES) as EngineName[];

const START_LIMIT_MS = 60_000;
const POLL_MS = 40;

export interface EnginesOptions {
  /** Folder for the pid and log files and the data. */
  dir: string;
  /** 'free': an engine that has no port in this folder yet gets any free port. */
  ports?: Partial<Record<EngineName, number>> | 'free';
  /** An engine whose address is set here is not started. Default: this process's environment. */
  env?: NodeJS.ProcessEnv;
  log?: Log;
}

export type Engines = Awaited<ReturnType<typeof startEngines>>;

interface EngineOptions {
  dir: string;
  port?: number | undefined;
  env?: NodeJS.ProcessEnv;
  log?: Log;
}

/** Returns the addresses of all, and which this call started: `stop` stops only those. */
export async function startEngines(options: EnginesOptions) {
  const { dir, ports, env = process.env, log = console.log } = options;
  const missing = ENGINE_NAMES.filter(
    (name) => !env[ENGINES[name].setting] && enginePid(name, dir) === undefined,
  );
  if (missing.length > 0) log(`starting ${missing.join(', ')} ...`);
  const urls = { MONGO_URL: '', KAFKA_BROKERS: '', REDIS_URL: '' };
  const plans: Array<Awaited<ReturnType<typeof plan>>> = [];
  // One after the other, so that the same one of several errors is reported every time.
  for (const { name, setting } of Object.values(ENGINES)) {
    const named = env[setting];
    if (named) {
      urls[setting] = named;
      continue;
    }
    const port =
      ports === 'free' ? (rememberedPort(dir, name) ?? (await freePort())) : ports?.[name];
    plans.push(await plan(name, { dir, env, log, port }));
  }

  const results = await Promise.allSettled(plans.map((start) => start()));
  const running = results.flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : [],
  );
  const started = running.filter((engine) => engine.started);
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(({ name }) => stopEngine(name, { dir, log })));
  };
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  for (const { name, url } of running) urls[ENGINES[name].setting] = url;
  return { urls, started: started.map(({ name, pid }) => ({ name, pid })), stop };
}

/**
 * Starts one engine unless it runs. Its port: the given one, else the one it had before, else the
 * setting's, else the default.
 */
export const startEngine = async (name: EngineName, options: EngineOptions) =>
  (await plan(name, options))();

export const stopEngine = (
  name: EngineName,
  { dir, log = console.log }: { dir: string; log?: Log },
): Promise<boolean> =>
  stopProcess({ dir: path.resolve(dir), name, marker: engineMarker(name, dir), log });

/** The pid of an engine, for tests that kill it. */
export const enginePid = (name: EngineName, dir: string): number | undefined =>
  findPid(path.resolve(dir), name, engineMarker(name, dir));

/** The port that an engine has, or had, in this folder. */
export function rememberedPort(dir: string, name: EngineName): number | undefined {
  const file = portFile(dir, name);
  if (!fs.existsSync(file)) return undefined;
  const port = Number.parseInt(fs.readFileSync(file, 'utf8'), 10);
  return Number.isInteger(port) && port > 0 ? port : undefined;
}

export const forgetPort = (dir: string, name: EngineName): void =>
  fs.rmSync(portFile(dir, name), { force: true });

const portFile = (dir: string, name: EngineName): string => path.join(dir, `${name}.port`);
const dataOf = (dir: string, name: EngineName): string => path.resolve(dir, 'data', name);
/** The part of the command line that identifies this engine in this folder. */
export const engineMarker = (name: EngineName, dir: string): string =>
  ENGINES[name].marker(dataOf(dir, name));

/**
 * Checks everything that may be missing (a port, a program, the jars) and returns a plan that only
 * has to start the process; `started` is false when it was already running.
 */
async function plan(name: EngineName, options: EngineOptions) {
  const { env = process.env, log = console.log } = options;
  const dir = path.resolve(options.dir);
  const engine = ENGINES[name];
  const port = choosePort(engine, { ...options, dir, env });

  const pid = enginePid(name, dir);
  if (pid !== undefined) {
    const own = rememberedPort(dir, name) ?? port;
    if (own !== port)
      log(`${name} already runs on port ${own}; ${port} applies after it was stopped`);
    return async () => {
      await untilReady(engine, { name, pid, logFile: logFile(dir, name), logFrom: 0 }, own);
      return { name, url: engine.url(own), port: own, pid, started: false };
    };
  }

  if (!(await becomesFree(port))) {
    const taken = portTaken({ name, port, setting: engine.portSetting });
    throw new LocalError(`${taken} (or ${engine.setting}, to use a running one)`);
  }
  const data = dataOf(dir, name);
  fs.mkdirSync(data, { recursive: true });
  const command = await engine.prepare({ data, port, env, log });
  return async () => {
    const began = Date.now();
    const launched = await startCommand(engine, command, { dir, port, env, log });
    log(`${name} is up: ${command.title} on 127.0.0.1:${port}, ${Date.now() - began} ms`);
    return { name, url: engine.url(port), port, pid: launched.pid, started: true };
  };
}

function choosePort(engine: Engine, options: EngineOptions & { env: NodeJS.ProcessEnv }): number {
  if (options.port !== undefined) return options.port;
  const set = options.env[engine.portSetting];
  if (set) return parsePort(engine.portSetting, set);
  return rememberedPort(options.dir, engine.name) ?? engine.defaultPort;
}

async function startCommand(
  engine: Engine,
  command: EngineCommand,
  place: Pick<EnginePlace, 'port' | 'env' | 'log'> & { dir: string },
): Promise<Launched> {
  const { dir, port, env, log } = place;
  await command.format?.();
  const { name } = engine;
  const launched = await launch({ ...command, dir, name, env, cwd: dataOf(dir, name) });
  fs.writeFileSync(portFile(dir, name), `${port}\n`);
  try {
    await untilReady(engine, launched, port, command.readyLine);
  } catch (error) {
    await stopEngine(name, { dir, log });
    throw error;
  }
  return launched;
}

async function untilReady(
  engine: Engine,
  launched: Launched,
  port: number,
  readyLine?: string,
): Promise<void> {
  const { pid, logFile: file, logFrom } = launched;
  const { name } = engine;
  const marker = engine.marker(dataOf(path.dirname(file), name));
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const logged = readyLine === undefined || logSince(file, logFrom).includes(readyLine);
    if (logged && (await engine.answers(port))) return;
    const fault = !isOurs(pid, marker)
      ? 'exited while starting'
      : Date.now() > deadline
        ? `does not answer on port ${port} after ${START_LIMIT_MS / 1000} s`
        : undefined;
    if (fault) throw new LocalError(`${name} ${fault}; its log says:\n${logTail(file, logFrom)}`);
    await sleep(POLL_MS);
  }
}
