// Sockets for protocols other than HTTP: refused hosts, the address connected to, TLS and time limits.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { useLocalServers } from '../../test/local-servers';
import { ConnectFailed } from './failures';
import type { ResolvedAddress } from './addresses';
import { guardedSocket, guardedSocketOptions, type SocketGuard } from './socket';

const LOCAL: SocketGuard = { allowPrivate: true };
const { portOf } = useLocalServers();
const sockets: Socket[] = [];
let received: Buffer[];

beforeEach(() => (received = []));
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const accepting = (onConnection: (socket: Socket) => void = () => undefined) =>
  createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => received.push(data));
    onConnection(socket);
  });

const resolving = (address: string): SocketGuard => ({
  allowPrivate: true,
  resolve: async (): Promise<ResolvedAddress[]> => [{ address, family: 4 }],
});

/** The failure of a socket that does not open. */
async function failureOf(
  target: { host: string; port: number; tls?: boolean },
  guard: SocketGuard,
  limit_ms?: number,
): Promise<string | null> {
  const { socket, failure } = guardedSocket({ tls: false, ...target }, guard, limit_ms);
  sockets.push(socket);
  await once(socket, 'error').catch(() => undefined);
  return failure();
}

test('opens a connection to an allowed host, by name and by address', async () => {
  const port = await portOf(accepting((socket) => socket.write('hello')));
  for (const host of ['127.0.0.1', 'localhost', 'queue.example.com']) {
    const guard = host.endsWith('.com') ? resolving('127.0.0.1') : LOCAL;
    const { socket, failure } = guardedSocket({ host, port, tls: false }, guard);
    sockets.push(socket);
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(String(data)).toBe('hello');
    expect(failure()).toBeNull();
  }
});

test.each([
  ['a private address', '10.0.0.1', 9093],
  ['loopback', '127.0.0.1', 9093],
  ['loopback in IPv6', '::1', 9093],
  ['cloud metadata', '169.254.169.254', 9093],
  ['a decimal spelling', '2130706433', 9093],
  ['a private name', 'broker', 9093],
  ['a name of a cluster', 'kafka.svc.cluster.local', 9093],
  ['a port of another protocol', 'kafka.example.com', 25],
  ['a path', 'kafka.example.com/x', 9093],
])('refuses %s without opening a socket', (_case, host, port) => {
  expect(() => guardedSocketOptions({ host, port, tls: true }, { allowPrivate: false })).toThrow(
    expect.objectContaining({ failure: 'url_refused' }) as ConnectFailed,
  );
});

test('refuses a connection without TLS unless local work is allowed', () => {
  const target = { host: 'kafka.example.com', port: 9092, tls: false };
  expect(() => guardedSocketOptions(target, { allowPrivate: false })).toThrow(ConnectFailed);
});

test('refuses a name that resolves to a refused address', async () => {
  const target = { host: 'innocent.example.com', port: 9092 };
  expect(await failureOf(target, resolving('169.254.169.254'))).toBe('url_refused');
  const guard = { ...resolving('127.0.0.1'), allowPrivate: false };
  expect(await failureOf({ ...target, tls: true }, guard)).toBe('url_refused');
});

test('reports a refused connection, a name without address, and a broken connection', async () => {
  const server = accepting((socket) => socket.resetAndDestroy());
  const port = await portOf(server);
  expect(await failureOf({ host: '127.0.0.1', port }, LOCAL)).toBe('reset');
  server.close();
  await once(server, 'close');
  expect(await failureOf({ host: '127.0.0.1', port }, LOCAL)).toBe('refused');
  const none: SocketGuard = { allowPrivate: true, resolve: async () => [] };
  expect(await failureOf({ host: 'nowhere.example.com', port }, none)).toBe('dns');
});

test('a server that does not complete the TLS handshake exceeds the time limit', async () => {
  const port = await portOf(accepting());
  expect(await failureOf({ host: '127.0.0.1', port, tls: true }, LOCAL, 100)).toBe('timeout');
  expect(received.length).toBeGreaterThan(0);
});

test('a server without TLS fails the handshake', async () => {
  const port = await portOf(accepting((socket) => socket.write('220 not TLS\r\n')));
  expect(await failureOf({ host: '127.0.0.1', port, tls: true }, LOCAL)).toBe('tls_missing');
});
