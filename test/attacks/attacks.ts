// The attacks on availability (deploy/THREATS.md). Each repeats what one hostile partner, or an
// anonymous client, can do, in a bounded number of concurrent requests, until it is told to stop.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { callRest } from '../testkit/rest';

export interface Target {
  base_url: string;
  ingress_url: string;
  /** Headers of the hostile partner, with a valid key and its account. */
  headers: Record<string, string>;
  /** A former key of the well-behaved partner. */
  rotated_key: string;
}

export interface Attack {
  name: string;
  /** Requests in flight at a time. */
  concurrency: number;
  /** One request; returns the status it got. `count` grows with each. */
  once(target: Target, count: number): Promise<number>;
}

const MIB = 1024 * 1024;
/** As many elements as fit into a body of this size. */
const filled = (element: string, bytes: number): string =>
  `${`${element},`.repeat(Math.floor(bytes / (element.length + 1)) - 1)}${element}`;

const FAULTY_USERS = `{"users":[${filled('1', MIB - 1_024)}]}`;
const EMPTY_CONTACTS = `{"name":"x","template_name":"x","template_language":"en","contacts":[${filled('{}', 15 * MIB)}]}`;
const WEBHOOK = Buffer.alloc(3 * MIB, 'x');

const call = async (
  { base_url, headers }: Target,
  method: string,
  path: string,
  body?: string,
): Promise<number> => (await callRest(base_url, method, path, body, headers)).status;

const postWebhook = async (
  { ingress_url }: Target,
  headers: Record<string, string>,
): Promise<number> =>
  (await fetch(ingress_url, { method: 'POST', headers, body: new Uint8Array(WEBHOOK) })).status;

/** How long a slow client holds its request, unless it is refused before. */
const HELD_MS = 1_000;

/** A request without a key whose body does not arrive; returns the status, or 0 without an answer. */
const postSlowly = ({ base_url }: Target): Promise<number> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(base_url);
    const socket = connect(Number(port), hostname, () =>
      socket.write('POST /connect/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{'),
    );
    let status = 0;
    socket.once('data', (text) => {
      status = Number(String(text).split(' ')[1]);
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(status));
    setTimeout(() => socket.destroy(), HELD_MS);
  });

const withHeaders = (target: Target, headers: Record<string, string>): Target => ({
  ...target,
  headers: { ...target.headers, ...headers },
});

const TEXT = JSON.stringify({ to: '15550100779', text: 'Hello' });

const smallBroadcast = (): string =>
  JSON.stringify({
    name: 'x',
    template_name: 'hello_world',
    template_language: 'en_US',
    contacts: ['15550100779'],
    scheduled_at: new Date(Date.now() + 3_600_000),
  });

export const ATTACKS: Attack[] = [
  {
    name: 'bodies with a million faults',
    concurrency: 4,
    once: (target) => call(target, 'POST', '/blocked', FAULTY_USERS),
  },
  {
    name: 'broadcasts of millions of empty contacts',
    concurrency: 2,
    once: (target) => call(target, 'POST', '/broadcasts', EMPTY_CONTACTS),
  },
  {
    name: 'retry-all in a loop',
    concurrency: 8,
    once: (target) => call(target, 'POST', '/webhooks/retry-all'),
  },
  {
    name: 'unknown keys',
    concurrency: 16,
    once: (target, count) =>
      call(withHeaders(target, { 'x-partner-key': `bmg_unknown_${count}` }), 'GET', '/clients'),
  },
  {
    name: 'slow bodies without a key',
    concurrency: 300,
    once: postSlowly,
  },
  {
    name: 'a rotated key of the neighbour',
    concurrency: 16,
    once: (target) =>
      call(withHeaders(target, { 'x-partner-key': target.rotated_key }), 'GET', '/clients'),
  },
  {
    name: 'lists outside the rate limit',
    concurrency: 40,
    once: (target) => call(target, 'GET', '/flows'),
  },
  {
    name: 'small broadcasts',
    concurrency: 8,
    once: (target) => call(target, 'POST', '/broadcasts', smallBroadcast()),
  },
  {
    name: 'a new Idempotency-Key each time',
    concurrency: 8,
    once: (target) =>
      call(
        withHeaders(target, { 'idempotency-key': randomUUID() }),
        'POST',
        '/messages/send',
        TEXT,
      ),
  },
  {
    name: 'webhooks without a signature',
    concurrency: 4,
    once: (target) => postWebhook(target, {}),
  },
  {
    name: 'webhooks with a wrong signature',
    concurrency: 4,
    once: (target) => postWebhook(target, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }),
  },
];

/** Repeats the attack until the signal is aborted; returns how often each status was answered. */
export async function runAttack(
  { concurrency, once }: Attack,
  target: Target,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  let count = 0;
  const repeat = async (): Promise<void> => {
    while (!signal.aborted) {
      count += 1;
      const status = String(await once(target, count).catch(() => 'reset'));
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, repeat));
  return seen;
}
