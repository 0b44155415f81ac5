// The cause of an error is logged: a cut-off answer must not bring a customer's number into a log.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createUpstream, type Upstream } from './client';

const ANSWER = '{"messaging_product":"whatsapp","contacts":[{"input":"15550100777","wa_id":"155501';

let server: Server;
let upstream: Upstream;

beforeAll(async () => {
  server = createServer((_request, response) => response.writeHead(200).end(ANSWER));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  upstream = createUpstream({
    UPSTREAM_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
});
afterAll(async () => {
  await upstream.stop();
  await new Promise((resolve) => server.close(resolve));
});

test('describes a cut-off answer without its content', async () => {
  const failure = await upstream
    .request(
      { operation: 'POST /messages', method: 'POST', path: '/messages', send: true },
      {
        deadline: Date.now() + 60_000,
        span: { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 },
        request_id: '',
      },
    )
    .catch((error: unknown) => error as Error);
  expect(failure).toMatchObject({ code: 'UPSTREAM_ERROR', details: { outcome: 'unknown' } });
  const cause = String((failure as Error).cause);
  expect(cause).toContain(`HTTP 200 with ${ANSWER.length} characters`);
  expect(cause).not.toContain('15550100777');
});
