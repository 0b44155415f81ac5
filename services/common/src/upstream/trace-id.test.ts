// The upstream's own id of an answer is kept with the error, wherever the answer has it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiError } from '../errors';
import { createUpstream, type Upstream } from './client';

interface Canned {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

let answer: Canned;
let server: Server;
let upstream: Upstream;

beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
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

const traceOf = async (canned: Canned): Promise<string | undefined> => {
  answer = canned;
  const failure = await upstream
    .request(
      { operation: 'POST /thing', method: 'POST', path: '/thing' },
      {
        deadline: Date.now() + 60_000,
        span: { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 },
        request_id: '',
      },
    )
    .catch((error: unknown) => error as ApiError);
  expect(failure).toMatchObject({ code: 'UPSTREAM_ERROR' });
  return (failure as ApiError).upstream_trace_id;
};

const error = (more: object): string => JSON.stringify({ error: { code: 100, ...more } });
const headers = { 'x-fb-trace-id': 'FromTheHeader' };

test.each([
  [
    'an error that names it',
    { status: 400, body: error({ fbtrace_id: 'InTheBody' }) },
    'InTheBody',
  ],
  [
    'an error that names it, before the header',
    { status: 400, headers, body: error({ fbtrace_id: 'InTheBody' }) },
    'InTheBody',
  ],
  ['an error that does not', { status: 400, headers, body: error({}) }, 'FromTheHeader'],
  ['a page', { status: 502, headers, body: '<html></html>' }, 'FromTheHeader'],
  ['what is no JSON', { status: 200, headers, body: 'ok' }, 'FromTheHeader'],
  ['an answer without one', { status: 500, body: '' }, undefined],
  ['one that is no text', { status: 400, body: error({ fbtrace_id: 7 }) }, undefined],
])('of %s', async (_name, canned, expected) => {
  expect(await traceOf(canned)).toBe(expected);
});
