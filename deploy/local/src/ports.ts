// Ports on the loopback address: is one free, and which could be used.
import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from './errors';

export const HOST = '127.0.0.1';
const CONNECT_LIMIT_MS = 1_000;
/**
 * Below the range that systems give to outgoing connections, one of which could take a port before
 * its server does.
 */
const FREE_FROM = 20_000;
const FREE_TO = 32_000;
const FREE_TRIES = 200;
const PORT_MAX = 65_535;

export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port, timeout: CONNECT_LIMIT_MS });
    const answer = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    // A port among the outgoing ones can be connected to itself, with nobody listening.
    socket.once('connect', () => answer(socket.localPort !== port));
    socket.once('timeout', () => answer(false));
    socket.once('error', () => answer(false));
  });
}

/**
 * Free means: nothing answers there and we could listen. Some systems allow a second listener
 * beside 0.0.0.0.
 */
export const isFree = async (port: number): Promise<boolean> =>
  (await canListen(port)) && !(await accepts(port));

/**
 * The threads of a killed process take a moment to end, and its ports are held until the last one
 * has.
 */
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

/**
 * Ports given out by this process: two callers must not be offered the same one before either
 * listens.
 */
const offered = new Set<number>();

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < FREE_TRIES; tries += 1) {
    const port = randomInt(FREE_FROM, FREE_TO);
    if (offered.has(port)) continue;
    offered.add(port);
    if (await isFree(port)) return port;
  }
  throw new LocalError(`no free port was found between ${FREE_FROM} and ${FREE_TO}`);
}

export interface Listening {
  name: string;
  port: number;
  /** What to set so that another port is used. */
  setting: string;
}

export const portTaken = ({ name, port, setting }: Listening): string =>
  `port ${port} (${name}) is taken by another program: stop that, or set ${setting}`;

/** One line for every port that is taken, in one error. */
export async function requireFree(ports: Listening[]): Promise<void> {
  const free = await Promise.all(ports.map(({ port }) => becomesFree(port)));
  const taken = ports.filter((_, index) => !free[index]);
  if (taken.length > 0) throw new LocalError(taken.map(portTaken).join('\n'));
}

export function parsePort(setting: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port > 0 && port <= PORT_MAX) return port;
  throw new LocalError(`${setting} is no port: ${text}`);
}
