// The agent over TLS, with a certificate created at run time: a private key in the repository would
// trigger secret scanners, and a stored certificate would expire.
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import type { TLSSocket } from 'node:tls';
import { guardedFetch } from './fetch';
import { guardedAgent, type GuardedAgent, type GuardedAgentOptions } from './guarded';
import { guardedPost } from './post';

const NAME = 'partner.example';
const DAY_MS = 86_400_000;

// The subset of DER that one certificate needs.
const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const short = content.length < 0x80;
  const length = short ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const utcTime = (ms: number) => {
  const digits = new Date(ms).toISOString().replace(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
};

function certificateFor(
  name: string,
  ends_ms = Date.now() + DAY_MS,
): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const commonName = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('test')))));
  const alternativeName = sequence(
    oid('551d11'),
    der(0x04, sequence(der(0x82, Buffer.from(name)))),
  );
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    commonName,
    sequence(utcTime(ends_ms - 2 * DAY_MS), utcTime(ends_ms)),
    commonName,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, privateKey));
  const body = sequence(signed, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  };
}

const { key, cert } = certificateFor(NAME);
const agents: GuardedAgent[] = [];
const servers: (Server | TcpServer)[] = [];
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.destroy()));
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const tcp = (onSocket: (socket: Socket) => void) =>
  portOf(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      onSocket(socket);
    }),
  );

function agentWith(options: Partial<GuardedAgentOptions> = {}): GuardedAgent {
  const agent = guardedAgent({
    allowPrivate: true,
    ca: cert,
    resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    ...options,
  });
  agents.push(agent);
  return agent;
}

const post = (port: number, agent: GuardedAgent, name = NAME, path = '/') =>
  guardedPost(`https://${name}:${port}${path}`, Buffer.from('{}'), {
    agent,
    pool: 'ptn_a',
    headers: {},
  });

test('sends the server name to a trusted receiver and reuses its connection', async () => {
  const seen: { servername: unknown; port: unknown }[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const socket = request.socket as TLSSocket & { servername?: string };
    seen.push({ servername: socket.servername, port: socket.remotePort });
    if (request.url === '/last') response.setHeader('connection', 'close');
    response.end('ok');
  });
  const port = await portOf(server);
  const agent = agentWith({ connectionsPerOrigin: 1 });
  await expect(post(port, agent)).resolves.toMatchObject({ status: 200 });
  await expect(post(port, agent, NAME, '/last')).resolves.toMatchObject({ status: 200 });
  await expect(post(port, agent)).resolves.toMatchObject({ status: 200 });
  const fetched = await guardedFetch(`https://${NAME}:${port}/`, { agent, field: 'url' });
  for await (const chunk of fetched.body) expect(chunk).toEqual(Buffer.from('ok'));
  const [first, second, third, fourth] = seen;
  expect(first).toMatchObject({ servername: NAME });
  expect(second?.port).toBe(first?.port);
  expect(third).toMatchObject({ servername: NAME });
  expect(third?.port).not.toBe(first?.port);
  expect(fourth).toMatchObject({ servername: NAME });
});

describe('an untrusted certificate', () => {
  let port: number;
  let requests: number;
  beforeEach(async () => {
    requests = 0;
    const server = createServer({ key, cert }, (_request, response) => {
      requests++;
      response.end();
    });
    server.on('tlsClientError', () => undefined);
    port = await portOf(server);
  });
  afterEach(() => expect(requests).toBe(0));

  test('fails with tls_untrusted for an unknown authority', async () => {
    const { cert: another } = certificateFor(NAME);
    await expect(post(port, agentWith({ ca: another }))).rejects.toMatchObject({
      reason: 'tls_untrusted',
    });
  });

  test('fails with tls_wrong_name for another name', async () => {
    await expect(post(port, agentWith(), 'other.example')).rejects.toMatchObject({
      reason: 'tls_wrong_name',
    });
  });
});

test('fails with tls_expired after the end of a certificate', async () => {
  const ended = certificateFor(NAME, Date.now() - 1_000);
  const server = createServer(ended);
  server.on('tlsClientError', () => undefined);
  const port = await portOf(server);
  await expect(post(port, agentWith({ ca: ended.cert }))).rejects.toMatchObject({
    reason: 'tls_expired',
  });
});

test('fails with tls_missing for a server without TLS', async () => {
  const port = await tcp((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await expect(post(port, agentWith())).rejects.toMatchObject({ reason: 'tls_missing' });
});

test('fails with reset when the server hangs up during the handshake', async () => {
  const port = await tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
  await expect(post(port, agentWith())).rejects.toMatchObject({ reason: 'reset' });
});

test('times out on a silent handshake and closes the connection', async () => {
  let closed: Promise<unknown> | undefined;
  const port = await tcp((socket) => {
    socket.resume();
    closed = new Promise((resolve) => socket.on('close', resolve));
  });
  const agent = agentWith({ connectTimeoutMs: 60 });
  await expect(post(port, agent)).rejects.toMatchObject({ reason: 'timeout' });
  await closed;
});
