// An HTTP server with bounds against slow clients: timeouts for headers, whole requests and idle
// connections, and a maximum number of connections. A request that is answered before its body was read
// has the rest of it discarded, for a bounded time.
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type Socket, isIPv4 } from 'node:net';
import { Counts } from '../collections';
import { metrics } from '../telemetry';

const HTTP_LIMITS = {
  headers_ms: 10_000,
  /** Headers and body. */
  request_ms: 30_000,
  /** Longer than a load balancer's idle timeout: it never writes into a closing connection. */
  keep_alive_ms: 65_000,
  /** How long the rest of a body may take after its request was answered. */
  linger_ms: 5_000,
  connections_max: 10_000,
  /** Applies to each network, if senders connect to the process themselves. */
  connections_of_network_max: 5_000,
};
export type HttpLimits = typeof HTTP_LIMITS;

/** How often timeouts are checked, and so their precision. */
const CHECK_EVERY_MS = 1_000;

interface BoundedServerOptions {
  /** Names the server in metrics. */
  server: string;
  limits?: Partial<HttpLimits>;
  /** Proxies in front of the process: with any, all connections are theirs and no network has a share. */
  proxy_hops?: number | undefined;
  /** The answer to a request that never reaches the listener. */
  refusal?: (reason: RefusalReason) => RefusalAnswer;
}

export type RefusalReason = 'malformed' | 'late' | 'no_host' | 'expectation';

export interface RefusalAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function createBoundedServer(
  { server: name, limits = {}, proxy_hops, refusal = plainRefusal }: BoundedServerOptions,
  listener: RequestListener,
) {
  const all = { ...HTTP_LIMITS, ...limits };
  const { headers_ms, request_ms, keep_alive_ms, linger_ms, connections_max } = all;
  const server = createServer(
    {
      headersTimeout: headers_ms,
      requestTimeout: request_ms,
      keepAliveTimeout: keep_alive_ms,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headers_ms),
      // Node's own answer would have none of our headers.
      requireHostHeader: false,
    },
    (request, response) =>
      lacksHost(request) ? refuse(response, refusal('no_host')) : listener(request, response),
  );
  server.on('checkExpectation', (_request, response: ServerResponse) =>
    refuse(response, refusal('expectation')),
  );
  server.maxConnections = connections_max;
  server.prependListener('request', (request, response) => {
    response.once('finish', () => request.complete || readRest(request, linger_ms));
  });
  if (proxy_hops === 0) shareConnections(server, name, all.connections_of_network_max);
  server.on('drop', () => metrics.requests_shed.inc({ server: name, reason: 'connections' }));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (late) metrics.requests_shed.inc({ server: name, reason: 'slow' });
    // A connection without a request gets no answer: a client that sends its first request now would
    // take it for its own.
    const has_request = socket.bytesRead > 0;
    // Destroyed once that is written: a client that trickles its request never closes its side.
    if (socket.writable && has_request) socket.end(textOf(refusal(late ? 'late' : 'malformed')));
    socket.destroySoon();
  });
  return Object.assign(server, {
    /** Listens; rejects if the address is taken. */
    open: (port: number, host: string) =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, resolve);
      }),
    /** From now on every answer closes its connection, so that clients connect to another process. */
    drain(): void {
      server.prependListener('request', (_request, response) => {
        response.setHeader('Connection', 'close');
      });
    },
  });
}

/** Idle connections cost a client nothing: those of one network must leave some for the others. */
function shareConnections(server: Server, name: string, max: number): void {
  const connections = new Counts();
  server.prependListener('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    if (connections.of(network) >= max) {
      metrics.requests_shed.inc({ server: name, reason: 'connections_of_network' });
      socket.destroy();
      return;
    }
    connections.add(network, 1);
    socket.once('close', () => connections.add(network, -1));
  });
}

/**
 * Closing a connection with unread bytes resets it, and a client that is still sending would lose the
 * answer. So the rest of its body is discarded, until the time is over.
 */
function readRest(request: IncomingMessage, linger_ms: number): void {
  const late = setTimeout(() => request.socket.destroy(), linger_ms);
  request.once('close', () => clearTimeout(late));
  request.resume();
}

/** HTTP 1.1 requires it. */
const lacksHost = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion === '1.1' && headers.host === undefined;

const closing = ({ headers, body }: RefusalAnswer): Record<string, string> => ({
  ...headers,
  'Content-Length': String(Buffer.byteLength(body)),
  Connection: 'close',
});

const refuse = (response: ServerResponse, answer: RefusalAnswer): unknown =>
  response.writeHead(answer.status, closing(answer)).end(answer.body);

function textOf(answer: RefusalAnswer): string {
  const { status, body } = answer;
  const head = Object.entries(closing(answer)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`;
}

const STATUSES: Record<RefusalReason, number> = {
  malformed: 400,
  late: 408,
  no_host: 400,
  expectation: 417,
};

const plainRefusal = (reason: RefusalReason): RefusalAnswer => ({
  status: STATUSES[reason],
  headers: {},
  body: '',
});

/**
 * The network of a sender, by which unauthenticated requests are limited. An IPv6 host usually owns
 * a whole /64, so that it is limited as one.
 */
export function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:/i, '');
  if (isIPv4(mapped)) return mapped;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':');
}

/**
 * The address of a request's sender: the last `proxy_hops` addresses of X-Forwarded-For are trusted, and
 * the first of them is the sender's; without such proxies it is the one of the connection.
 */
export function senderOf({ headers, socket }: IncomingMessage, proxy_hops: number): string {
  const given = proxy_hops > 0 ? String(headers['x-forwarded-for'] ?? '').split(',') : [];
  const trusted = given.map((address) => address.trim()).filter((address) => address !== '');
  return trusted.slice(-proxy_hops)[0] ?? socket.remoteAddress ?? '';
}
