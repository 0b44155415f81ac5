// Generates load: a number of items in flight for maximum throughput, or items at a given rate for
// latency. Requests go through undici, webhooks over plain sockets: the driver shares the machine
// with the measured mesh, so a post must cost it next to nothing.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { requestBytes } from '../testkit/request-bytes';
import { bodyOf, signed } from '../testkit/upstream-webhooks';

/** Milliseconds of the monotonic clock that all processes of the machine share. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Keeps `workers` calls of `work` running until it has been called `total` times. */
export async function inFlight(
  workers: number,
  total: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let index = next++; index < total; index = next++) await work(index);
    }),
  );
}

/** Keeps `workers` calls of `work` running for `seconds`. */
export async function inFlightFor(
  workers: number,
  seconds: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const until = now() + seconds * 1_000;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (now() < until) await work();
    }),
  );
}

/**
 * Calls `work` `rate` times a second, regardless of how long it takes: the first time at once.
 * `due_ms` is when a call was due.
 */
export async function atRate<T>(
  rate: number,
  seconds: number,
  work: (due_ms: number, index: number) => Promise<T>,
): Promise<T[]> {
  const pending: Promise<T>[] = [];
  const started = now();
  const total = Math.floor(rate * seconds);
  while (pending.length < total) {
    const due = Math.min(total, 1 + Math.floor(((now() - started) / 1_000) * rate));
    while (pending.length < due) {
      pending.push(work(started + (pending.length / rate) * 1_000, pending.length));
    }
    await sleep(1);
  }
  return Promise.all(pending);
}

export interface Shot {
  origin: string;
  path: string;
  /** The headers of every request, or of the one with this index. */
  headers: Record<string, string> | ((index: number) => Record<string, string>);
  body(index: number): string;
}

export interface Measured {
  count: number;
  failed: number;
  seconds: number;
  per_second: number;
  p50_ms: number;
  p99_ms: number;
}

const OPEN_LOOP_CONNECTIONS = 256;
const OPENING_S = 1;

type Fire = (index: number, since_ms: number) => Promise<void>;

/** Runs the loads one after the other over the same connections, and measures the last one. */
async function shoot(
  shot: Shot,
  connections: number,
  loads: Array<(fire: Fire) => Promise<unknown>>,
): Promise<Measured> {
  const agent = new Agent({ connections, pipelining: 1 });
  const { origin, path, headers, body } = shot;
  const headersOf = typeof headers === 'function' ? headers : () => headers;
  const post = async (index: number): Promise<boolean> => {
    const answer = await agent.request({
      origin,
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf(index) },
      body: body(index),
    });
    await answer.body.dump();
    return answer.statusCode < 300;
  };
  const measure = async (load: (fire: Fire) => Promise<unknown>): Promise<Measured> => {
    const times: number[] = [];
    let failed = 0;
    const started = now();
    await load(async (index, since_ms) => {
      if (!(await post(index).catch(() => false))) failed += 1;
      times.push(now() - since_ms);
    });
    return summary(times, failed, (now() - started) / 1_000);
  };
  let measured = summary([], 0, 0);
  for (const load of loads) measured = await measure(load);
  await agent.close();
  return measured;
}

/** Keeps `workers` requests in flight for `seconds`. */
export const closedLoop = (shot: Shot, workers: number, seconds: number): Promise<Measured> => {
  let next = 0;
  return shoot(shot, workers, [(fire) => inFlightFor(workers, seconds, () => fire(next++, now()))]);
};

/**
 * Sends `rate` requests per second, regardless of the answers; latency counts from when a request
 * was due. The first second, in which the connections open, is not counted.
 */
export const openLoop = (shot: Shot, rate: number, seconds: number): Promise<Measured> =>
  shoot(
    shot,
    OPEN_LOOP_CONNECTIONS,
    [OPENING_S, seconds].map(
      (one) => (fire) => atRate(rate, one, (due, index) => fire(index, due)),
    ),
  );

export function quantile(times: readonly number[], q: number): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

export const summary = (times: number[], failed: number, seconds: number): Measured => ({
  count: times.length,
  failed,
  seconds,
  per_second: times.length / seconds,
  p50_ms: quantile(times, 0.5),
  p99_ms: quantile(times, 0.99),
});

/** The median of some rounds, and the smallest and largest. */
export function spread(rounds: readonly number[], digits: number): string {
  const text = (value: number): string => value.toFixed(digits);
  if (rounds.length === 1) return text(rounds[0] as number);
  return `${text(quantile(rounds, 0.5))} (${text(Math.min(...rounds))} to ${text(Math.max(...rounds))})`;
}

/** The stub of the upstream posts no statuses of a message with this text. */
export const SILENT = 'no statuses';

export interface Place {
  waba_id: string;
  phone_number_id: string;
  partner_key: string;
}

export const aText = (index: number): string =>
  JSON.stringify({
    to: String(15_550_100_000 + (index % 9_999)),
    text: 'Your order is on its way.',
  });

export const keyOf = ({ partner_key, waba_id }: Place): Record<string, string> => ({
  'x-partner-key': partner_key,
  'x-waba-id': waba_id,
});

/** Sends of the partners in turn. */
export const sendShot = (gateway: string, places: readonly Place[], body = aText): Shot => ({
  origin: gateway,
  path: '/v1/messages/send',
  headers: (index) => keyOf(places[index % places.length] as Place),
  body,
});

/** For each place: enough that every few messages come from a new customer. */
const CUSTOMERS_MAX = 5_000;
/** Counts the customers of all places, so that more places do not mean more new customers. */
const ALL_CUSTOMERS = 50_000;
const MIX = 2_654_435_761;

export interface Webhook {
  id: string;
  place: number;
  body: string;
}

let messages_made = 0;
let bodies_made = 0;

export function webhook(places: readonly Place[], items = 1): Webhook {
  const place = bodies_made++ % places.length;
  const number = places[place] as Place;
  const customers = Math.min(CUSTOMERS_MAX, Math.ceil(ALL_CUSTOMERS / places.length));
  // Scattered, so that new customers keep appearing while others write again.
  const customer = String(15_550_200_000 + ((Math.imul(messages_made, MIX) >>> 8) % customers));
  const messages = Array.from({ length: items }, () => {
    messages_made += 1;
    return {
      from: customer,
      id: `wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI${String(messages_made).padStart(10, '0')}`,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      type: 'text',
      text: { body: 'Is my order on its way already? I would need it by Friday.' },
    };
  });
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550100001', phone_number_id: number.phone_number_id },
    contacts: [{ wa_id: customer, profile: { name: 'A customer' } }],
    messages,
  };
  const body = bodyOf(number, [{ field: 'messages', value }]);
  return { id: messages.at(-1)?.id ?? '', place, body };
}

/** Its signed post, as it goes over the wire. */
export const wireWebhook = (ingress: URL, { body }: Webhook): Buffer =>
  requestBytes(ingress, '/webhooks/upstream', signed(body), body);

export type Load = ReturnType<typeof createLoad>;

/** Posts webhooks as the upstream does, and records when each was due and when it was answered. */
export function createLoad(ingress: string) {
  const client = createWireClient(ingress);
  const origin = new URL(ingress);
  const post = async ({ id, place }: Webhook, request: Buffer, due_ms: number) => {
    const { status } = await client.ask(request);
    return { id, place, due_ms, at_ms: now(), status };
  };
  return {
    /**
     * Prepares all posts; the returned function makes them, with `workers` in flight until all are
     * posted.
     */
    closed(webhooks: Webhook[], workers: number) {
      const requests = webhooks.map((one) => wireWebhook(origin, one));
      return async () => {
        const answered: Array<Awaited<ReturnType<typeof post>>> = [];
        await inFlight(workers, webhooks.length, async (at) => {
          answered.push(await post(webhooks[at] as Webhook, requests[at] as Buffer, now()));
        });
        return answered;
      };
    },
    /** Posts at `rate` per second, regardless of the answers. */
    open: (make: () => Webhook, rate: number, seconds: number) =>
      atRate(rate, seconds, (due_ms) => {
        const one = make();
        return post(one, wireWebhook(origin, one), due_ms);
      }),
    close: () => client.close(),
  };
}

const HOST = '127.0.0.1';
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
/** More requests wait until a connection is free, as they do at the upstream. */
const CONNECTIONS_MAX = 512;

/** The first message of the received text, which has one character per byte, if it is complete. */
function messageOf(text: string): { head: string; body: string; end: number } | undefined {
  const head_end = text.indexOf(HEAD_END);
  if (head_end < 0) return undefined;
  const head = text.slice(0, head_end + 2);
  const body_at = head_end + HEAD_END.length;
  const end = body_at + Number(LENGTH.exec(head)?.[1] ?? 0);
  return text.length < end ? undefined : { head, body: text.slice(body_at, end), end };
}

export interface WireAnswer {
  /** 0 if the connection failed. */
  status: number;
  /** One character per byte. */
  body: string;
}

interface Line {
  socket: Socket;
  text: string;
  resolve: ((answer: WireAnswer) => void) | undefined;
}

/** Opens a connection when all others wait for their answer. */
export function createWireClient(origin: string) {
  const { hostname, port } = new URL(origin);
  const idle: Line[] = [];
  const all = new Set<Line>();
  const waiting: Array<(line: Line) => void> = [];
  const settle = (line: Line, answer: WireAnswer): void => {
    const { resolve } = line;
    line.resolve = undefined;
    resolve?.(answer);
  };
  const open = (): Line => {
    const line: Line = { socket: connect(Number(port), hostname), text: '', resolve: undefined };
    all.add(line);
    line.socket.setNoDelay(true);
    const gone = (): void => {
      all.delete(line);
      const at = idle.indexOf(line);
      if (at >= 0) idle.splice(at, 1);
      line.socket.destroy();
      settle(line, { status: 0, body: '' });
      const next = waiting.shift();
      if (next) next(open());
    };
    line.socket.on('error', gone);
    line.socket.on('close', gone);
    line.socket.on('data', (chunk: Buffer) => {
      line.text += chunk.toString('latin1');
      const answer = messageOf(line.text);
      if (!answer) return;
      const status = Number(line.text.slice(9, 12));
      line.text = '';
      settle(line, { status, body: answer.body });
      const next = waiting.shift();
      if (next) next(line);
      else idle.push(line);
    });
    return line;
  };
  return {
    /** Sends a request, head and body as they go over the wire, and reads the answer. */
    ask: (request: Buffer): Promise<WireAnswer> =>
      new Promise((resolve) => {
        const post = (line: Line): void => {
          line.resolve = resolve;
          line.socket.write(request);
        };
        const line = idle.pop() ?? (all.size < CONNECTIONS_MAX ? open() : undefined);
        if (line) post(line);
        else waiting.push(post);
      }),
    close(): void {
      for (const { socket } of all) socket.destroy();
    },
  };
}

export interface WireRequest {
  method: string;
  path: string;
  /** One character per byte. */
  body: string;
}

export const respond = (socket: Socket, body: string): void =>
  void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

/** Calls `handle` for each request; it answers on the socket. */
export function startWireServer(
  port: number,
  handle: (request: WireRequest, socket: Socket) => void,
): Server {
  const server = createServer((socket) => {
    let text = '';
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let request = messageOf(text); request; request = messageOf(text)) {
        text = text.slice(request.end);
        const { head, body } = request;
        const [method = '', path = '/'] = head.slice(0, head.indexOf('\r\n')).split(' ');
        handle({ method, path, body }, socket);
      }
    });
  });
  return server.listen(port, HOST);
}
