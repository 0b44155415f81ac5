// Finds and checks free ports on the loopback address.
import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from './errors';

export const HOST = '127.0.0.1';
const CONNECT_LIMIT_MS = 1_000;
/**
 * Below the range of outgoing connections, one of which could take a port before its server binds
 * it.
 */
const FREE_FROM = 20_000;
const FREE_TO = 32_000;
/** Processes that look for ports at the same moment look in different parts of the range. */
const PARTS = 60;
const PART = (FREE_TO - FREE_FROM) / PARTS;
const OWN_TRIES = 100;
const FREE_TRIES = 300;
const PORT_MAX = 65_535;

export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port, timeout: CONNECT_LIMIT_MS });
    const answer = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    // In the range of outgoing ports a socket can connect to itself, with no listener.
    socket.once('connect', () => answer(socket.localPort !== port));
    socket.once('timeout', () => answer(false));
    socket.once('error', () => answer(false));
  });
}

/**
 * Free: nothing answers on the port and we can listen on it. Both checks are needed, because some
 * systems allow a second listener beside 0.0.0.0.
 */
export const isFree = async (port: number): Promise<boolean> =>
  (await canListen(port)) && !(await accepts(port));

/** The ports of a killed process stay taken until its last thread has ended, a moment later. */
const RELEASE_LIMIT_MS = 2_000;
const POLL_MS = 50;

export async function becomesFree(port: number): Promise<boolean> {
  const deadline = Date.now() + RELEASE_LIMIT_MS;
  while (!(await isFree(port))) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: HOST, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Ports this process has handed out: two callers must not get the same one before they listen. */
const offered = new Set<number>();

export async function freePort(): Promise<number> {
  const from = FREE_FROM + (process.pid % PARTS) * PART;
  for (let tries = 0; tries < FREE_TRIES; tries += 1) {
    // A process that has used up its part looks everywhere.
    const port = tries < OWN_TRIES ? randomInt(from, from + PART) : randomInt(FREE_FROM, FREE_TO);
    if (offered.has(port)) continue;
    offered.add(port);
    if (await isFree(port)) return port;
  }
  throw new LocalError(`found no free port between ${FREE_FROM} and ${FREE_TO}`);
}

export interface Listening {
  name: string;
  port: number;
  /** The setting that changes the port. */
  setting: string;
}

export const portTaken = ({ name, port, setting }: Listening): string =>
  `port ${port} (${name}) is taken by another program: stop it, or set ${setting}`;

/** Throws one error with a line for every port that is taken. */
export async function requireFree(ports: Listening[]): Promise<void> {
  const free = await Promise.all(ports.map(({ port }) => becomesFree(port)));
  const taken = ports.filter((_, index) => !free[index]);
  if (taken.length > 0) throw new LocalError(taken.map(portTaken).join('\n'));
}

export function parsePort(setting: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port > 0 && port <= PORT_MAX) return port;
  throw new LocalError(`${setting} must be a port number, not ${text}`);
}
