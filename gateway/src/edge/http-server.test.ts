// Answers to requests that Node refuses before Koa sees them.
import { once } from 'node:events';
import { connect } from 'node:net';
import { createHttpServer } from './http-server';

const notices = {
  'X-Service-Api-Version': '2.9.2',
  'X-Service-Changelog': 'https://gateway.example.com/changelog',
  'X-Service-Notice': 'a,b',
  'X-Service-Notice-Level': 'info',
};

let server: ReturnType<typeof createHttpServer>;
let reached: string[];

beforeAll(async () => {
  server = createHttpServer(
    ({ url }, response) => {
      reached.push(String(url));
      response.end('{}');
    },
    {
      ...{ host: '127.0.0.1', port: 0, notices, proxy_hops: 1 },
      docs_url: 'https://gateway.example.com/docs',
    },
  );
  await server.start(new AbortController().signal);
});
afterAll(() => server.stop());
beforeEach(() => (reached = []));

async function send(request: string): Promise<{ head: string; body: string }> {
  const socket = connect(server.port(), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.write(request);
  await once(socket, 'close');
  const at = text.indexOf('\r\n\r\n');
  return { head: text.slice(0, at), body: text.slice(at + 4) };
}

test.each([
  ['without a Host', 'GET /a HTTP/1.1\r\n\r\n', 400, 'Host'],
  [
    'with an unknown expectation',
    'GET /a HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n',
    417,
    'Expect',
  ],
  ['that is not HTTP', 'GET /a HTTP/9\r\n\r\n', 400, 'not valid HTTP'],
  [
    'with a header above the limit',
    `GET /a HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    400,
    'not valid HTTP',
  ],
  [
    'with two lengths',
    'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    'not valid HTTP',
  ],
])(
  'a request %s gets the notice headers and the standard body',
  async (_name, request, status, says) => {
    const { head, body } = await send(request);
    expect(head.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    for (const [name, value] of Object.entries(notices))
      expect(head).toContain(`${name}: ${value}`);
    const { success, error } = JSON.parse(body) as {
      success: boolean;
      error: Record<string, unknown>;
    };
    expect(success).toBe(false);
    expect(error).toMatchObject({
      ...{ code: 'INVALID_PAYLOAD', retryable: false, message: expect.stringContaining(says) },
      doc_url: 'https://gateway.example.com/docs#INVALID_PAYLOAD',
    });
    expect(head).toContain(`X-Request-Id: ${String(error['request_id'])}`);
    expect(reached).toEqual([]);
  },
);

test('a request of HTTP 1.0 needs no Host, and 100-continue is answered', async () => {
  await send('GET /old HTTP/1.0\r\n\r\n');
  const { head } = await send(
    'POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  );
  expect(head).toMatch(/^HTTP\/1.1 100 Continue/);
  expect(reached).toEqual(['/old', '/a']);
});
