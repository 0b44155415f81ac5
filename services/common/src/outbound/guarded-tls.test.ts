// The agent over TLS.
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { useAgents } from '../../test/agents';
import { createAuthority } from '../../test/authority';
import { closing, useLocalServers } from '../../test/local-servers';
import { guardedFetch } from './fetch';
import type { GuardedAgent } from './guarded';
import { guardedPost } from './post';

const NAME = 'partner.example';
const authority = createAuthority();
const certificateFor = (not_after?: number) => {
  const lasting = not_after === undefined ? {} : { not_after };
  const { key, certificate } = authority.issue({ names: [`DNS:${NAME}`], ...lasting });
  return { key, cert: certificate };
};
const { portOf, tcp } = useLocalServers();
const portOfTcp = async (...behaviour: Parameters<typeof tcp>) =>
  Number(new URL(await tcp(...behaviour)).port);

const agentWith = useAgents({
  ca: authority.certificate,
  resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
});

const post = (port: number, agent: GuardedAgent, name = NAME, path = '/') =>
  guardedPost(`https://${name}:${port}${path}`, Buffer.from('{}'), {
    agent,
    pool: 'ptn_a',
    headers: {},
    timeout_ms: 4_000,
  });

test('sends the server name to a trusted receiver and reuses its connection', async () => {
  const seen: { servername: unknown; port: unknown }[] = [];
  const server = createServer(certificateFor(), (request, response) => {
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

test.each<[string, string, { ca?: string; name?: string; not_after?: number }]>([
  ['tls_untrusted', 'an unknown authority', { ca: createAuthority('another').certificate }],
  ['tls_wrong_name', 'another name', { name: 'other.example' }],
  ['tls_expired', 'a certificate after its end', { not_after: Date.now() - 1_000 }],
])('fails with %s for %s, without a request', async (reason, _why, { ca, name, not_after }) => {
  const received = jest.fn();
  const server = createServer(certificateFor(not_after), received);
  server.on('tlsClientError', () => undefined);
  const port = await portOf(server);
  await expect(post(port, agentWith(ca ? { ca } : {}), name)).rejects.toMatchObject({ reason });
  expect(received).not.toHaveBeenCalled();
});

test('fails with tls_missing for a server without TLS', async () => {
  const port = await portOfTcp((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await expect(post(port, agentWith())).rejects.toMatchObject({ reason: 'tls_missing' });
});

test('fails with reset when the server hangs up during the handshake', async () => {
  const port = await portOfTcp((socket) => socket.resetAndDestroy());
  await expect(post(port, agentWith())).rejects.toMatchObject({ reason: 'reset' });
});

test('times out on a silent handshake and closes the connection', async () => {
  let closed: Promise<unknown> | undefined;
  const port = await portOfTcp((socket) => (closed ??= closing(socket)));
  const agent = agentWith({ connectTimeoutMs: 60 });
  await expect(post(port, agent)).rejects.toMatchObject({ reason: 'timeout' });
  await closed;
});
