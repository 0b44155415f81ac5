// Checks the health of the mesh: each process's readiness, and the gateway's report on the whole.
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from './settings';
import { LocalError } from './errors';
import { listening, pidOf, type MeshProcess, type Settings } from './mesh';
import { RUN_DIR } from './paths';
import { accepts, HOST } from './ports';
import { logFile, logTail, type Log } from './processes';

const HEALTH_LIMIT_MS = 60_000;
const ASK_LIMIT_MS = 2_000;
const POLL_MS = 150;
/** Enough of a health response to see which dependency fails. */
const BODY_SHOWN = 600;

/** True when the gateway of the mesh in this folder reports `ok`. */
export async function isUp(dir: string = RUN_DIR): Promise<boolean> {
  const settings = readEnv(dir);
  if (settings['BASE_URL'] === undefined || pidOf('gateway', dir) === undefined) return false;
  return (await gatewayStatus(settings)) === 'ok';
}

export interface HealthOptions {
  dir: string;
  settings: Settings;
  limit_ms?: number | undefined;
  /** Gets a line for each process that becomes ready. */
  log?: Log | undefined;
}

/**
 * Waits until all these processes are ready. Throws as soon as one has exited; at the time limit,
 * throws with the processes that are not ready.
 */
export async function untilHealthy(
  services: MeshProcess[],
  { dir, settings, limit_ms = HEALTH_LIMIT_MS, log = () => undefined }: HealthOptions,
): Promise<void> {
  const deadline = Date.now() + limit_ms;
  let waiting = services;
  for (;;) {
    const dead = services.find(({ name }) => pidOf(name, dir) === undefined);
    if (dead) throw new LocalError(withLog(`${dead.name} has exited`, dead, dir));
    const states = await Promise.all(waiting.map((service) => stateOf(service, settings)));
    const faults = states.filter((state) => state !== 'ok');
    const ready = waiting.filter((_, index) => states[index] === 'ok');
    waiting = waiting.filter((_, index) => states[index] !== 'ok');
    if (ready.length > 0) {
      const names = ready.map(({ name }) => name).join(', ');
      log(`ready: ${names} (${services.length - waiting.length} of ${services.length})`);
    }
    const [first] = waiting;
    if (first === undefined) return;
    if (Date.now() > deadline) {
      const who = waiting.map(({ name }, index) => `${name} (${faults[index]})`).join(', ');
      const message = `not ready after ${Math.round(limit_ms / 1000)} s: ${who}`;
      throw new LocalError(withLog(message, first, dir));
    }
    await sleep(POLL_MS);
  }
}

const withLog = (message: string, { name }: MeshProcess, dir: string): string =>
  `${message}; the last lines of ${logFile(dir, name)}:\n${logTail(logFile(dir, name))}`;

/** 'ok', or the reason why not. The gateway's own health comes last: it covers the whole mesh. */
async function stateOf(service: MeshProcess, settings: Settings): Promise<string> {
  const ports = listening(service, settings);
  const metrics = ports.find(({ kind }) => kind === 'METRICS_PORT');
  if (metrics) {
    const { status } = await get(`http://${HOST}:${metrics.port}/readyz`);
    if (status !== 200) return status === 0 ? 'does not answer' : `/readyz answers ${status}`;
  } else {
    const open = await Promise.all(ports.map(({ port }) => accepts(port)));
    if (open.includes(false)) return 'does not answer';
  }
  return service.name === 'gateway' ? gatewayStatus(settings) : 'ok';
}

async function gatewayStatus(settings: Settings): Promise<string> {
  const { status, body } = await get(`${settings['BASE_URL']}/health`);
  if (status === 0) return 'does not answer';
  try {
    const parsed = JSON.parse(body) as { status?: unknown };
    if (parsed.status === 'ok') return 'ok';
    return `/health reports ${body.slice(0, BODY_SHOWN)}`;
  } catch {
    return `/health answers ${status}`;
  }
}

async function get(url: string): Promise<{ status: number; body: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_LIMIT_MS) });
    return { status: response.status, body: await response.text() };
  } catch {
    return { status: 0, body: '' };
  }
}
