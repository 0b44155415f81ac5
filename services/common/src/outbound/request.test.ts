import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { useAgents } from '../../test/agents';
import { useLocalServers } from '../../test/local-servers';
import type { GuardedAgent } from './guarded';
import { guardedRequest, type GuardedRequestOptions } from './request';

const agentWith = useAgents();
let agent: GuardedAgent;
beforeEach(() => (agent = agentWith()));
const { http, urlOf } = useLocalServers();

const request = (url: string, options: Partial<GuardedRequestOptions> = {}) =>
  guardedRequest(url, {
    agent,
    pool: 'p',
    method: 'PUT',
    headers: {},
    answer_max_bytes: 100,
    signal: AbortSignal.timeout(5_000),
    ...options,
  });

test('sends method, headers and body, and returns the whole answer', async () => {
  let seen: IncomingMessage | undefined;
  const url = await http((incoming, response) => {
    seen = incoming;
    response.writeHead(404, { 'x-b': ['1', '2'] });
    incoming.pipe(response);
  });
  const answer = await request(`${url}/a?b=c`, { headers: { 'x-a': '1' }, body: 'hello' });
  expect(answer).toMatchObject({ status: 404, headers: { 'x-b': '1, 2' } });
  expect(String(answer.body)).toBe('hello');
  expect(seen).toMatchObject({ method: 'PUT', url: '/a?b=c', headers: { 'x-a': '1' } });
});

test('does not follow a redirect', async () => {
  const url = await http((_incoming, response) => {
    response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
  });
  expect((await request(url)).status).toBe(307);
});

test('cuts off an answer that is too long', async () => {
  const url = await http((_incoming, response) => response.end('x'.repeat(101)));
  await expect(request(url)).rejects.toMatchObject({ name: 'RequestFailed', reason: 'protocol' });
});

test('ends with its signal while the server hangs', async () => {
  const url = await http((_incoming, response) => void response.writeHead(200).write('x'));
  await expect(request(url, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
    reason: 'timeout',
  });
});

test.each([
  ['http://169.254.169.254/', 'url_refused'],
  ['http://127.0.0.1:25/', 'url_refused'],
  ['http://127.0.0.1:1/', 'url_refused'],
])('refuses %s', async (url, reason) => {
  await expect(request(url)).rejects.toMatchObject({ reason });
});

test('reports a refused connection', async () => {
  const server = createServer();
  const url = await urlOf(server);
  server.close();
  await once(server, 'close');
  await expect(request(url)).rejects.toMatchObject({ reason: 'refused' });
});
