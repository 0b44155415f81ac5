// For this folder's tests: a webhook receiver that records, API calls, and waiting.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { startEmulator, type Emulator, type EmulatorOptions } from './index';

export const ONE = {
  waba: '900000000000001',
  number: '800000000000001',
  token: 'EMULATED-TOKEN-1',
};
export const TWO = {
  waba: '900000000000002',
  number: '800000000000002',
  cloud_number: '800000000000003',
  pending_number: '800000000000004',
  token: 'EMULATED-TOKEN-2',
};
export const THREE = {
  waba: '900000000000003',
  unverified_number: '800000000000005',
  fast_number: '800000000000006',
  token: 'EMULATED-TOKEN-3',
};

export type Any = any;

export interface Received {
  headers: IncomingHttpHeaders;
  raw: string;
  body: Any;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Statuses of the next answers; the last one repeats. */
  answers: number[];
  changes(field?: string): Any[];
  statuses(): Any[];
  clear(): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers = [200];
  const server: Server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://receiver');
    if (incoming.method === 'GET') {
      const good = url.searchParams.get('hub.verify_token') === 'verify-local';
      outgoing.writeHead(good ? 200 : 403).end(url.searchParams.get('hub.challenge') ?? '');
      return;
    }
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const raw = Buffer.concat(chunks).toString('latin1');
      received.push({ headers: incoming.headers, raw, body: safeParse(raw) });
      outgoing.writeHead(answers.length > 1 ? (answers.shift() as number) : (answers[0] as number));
      outgoing.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const changes = (field?: string): Any[] =>
    received
      .flatMap(({ body }) => body?.entry ?? [])
      .flatMap((entry: Any) => entry.changes)
      .filter((change: Any) => field === undefined || change.field === field);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answers,
    changes,
    statuses: () => changes('messages').flatMap(({ value }) => value.statuses ?? []),
    clear: () => void received.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function safeParse(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}

export interface World {
  emulator: Emulator;
  receiver: Receiver;
  close(): Promise<void>;
}

export async function startWorld(options: EmulatorOptions = {}): Promise<World> {
  const receiver = await startReceiver();
  const emulator = await startEmulator({ port: 0, webhook_url: receiver.url, ...options });
  return {
    emulator,
    receiver,
    close: async () => {
      await emulator.close();
      await receiver.close();
    },
  };
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Any;
}

export type Api = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** Calls the versioned API with a token; the path may include a query. */
export function apiOf(emulator: Emulator, token: string, scheme = 'Bearer'): Api {
  return async (method, path, body, headers = {}) => {
    const response = await request(`${emulator.url}/${emulator.config.api_version}${path}`, {
      method: method as 'GET',
      headers: {
        ...(token ? { authorization: `${scheme} ${token}` } : {}),
        ...(body !== undefined && !Buffer.isBuffer(body)
          ? { 'content-type': 'application/json' }
          : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      headers: response.headers as IncomingHttpHeaders,
      body: safeParse(text) ?? text,
    };
  };
}

export function aText(to = '15550100777', more: Record<string, unknown> = {}): Any {
  return { messaging_product: 'whatsapp', to, type: 'text', text: { body: 'Hello' }, ...more };
}

export function aTemplate(
  name: string,
  components: unknown[] = [],
  more: Record<string, unknown> = {},
): Any {
  return {
    messaging_product: 'whatsapp',
    to: '15550100777',
    type: 'template',
    template: { name, language: { code: 'en_US' }, components },
    ...more,
  };
}

export function bodyOf(...texts: string[]): Any {
  return { type: 'body', parameters: texts.map((text) => ({ type: 'text', text })) };
}

const STEP_MS = 10;

export async function eventually(check: () => boolean, timeout_ms = 5000): Promise<void> {
  const until = Date.now() + timeout_ms;
  while (!check()) {
    if (Date.now() > until) throw new Error('the condition did not hold in time');
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}
