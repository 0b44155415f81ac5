import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseExact } from '../json';
import { createUpstream, type Upstream } from './client';

let server: Server;
let upstream: Upstream;

/** Answers with the body of the request. */
beforeAll(async () => {
  server = createServer((request, response) => request.pipe(response.writeHead(200)));
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

test.each([false, true])('keeps every digit both ways (gated write: %j)', async (is_gated) => {
  const text = '{"flow_id":122097329108006499,"data":{"order_no":9007199254740993}}';
  const answer = await upstream.request(
    {
      operation: 'POST /messages',
      method: 'POST',
      path: '/messages',
      body: parseExact(text) as Record<string, unknown>,
      ...(is_gated && { beforeWrite: async () => undefined }),
    },
    {
      deadline: Date.now() + 60_000,
      span: { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 },
      request_id: '',
    },
  );
  expect(JSON.stringify(answer)).toBe(text);
});
