import type { RequestListener } from 'node:http';
import { useLocalServers } from '../../test/local-servers';
import { call } from '../../test/rpc';
import type { ApiError } from '../errors';
import { parseExact } from '../json';
import type { Json } from './answers';
import { createUpstream, type Upstream, type UpstreamRequest } from './client';

const { http } = useLocalServers();
let upstream: Upstream;
afterEach(() => upstream.stop());

async function request(listener: RequestListener, more: Partial<UpstreamRequest>): Promise<Json> {
  upstream = createUpstream({
    UPSTREAM_URL: await http(listener),
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
  return upstream.request(
    { operation: 'POST /thing', method: 'POST', path: '/thing', ...more },
    call(),
  );
}

interface Canned {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

const failure = ({ status, headers, body }: Canned, more: Partial<UpstreamRequest> = {}) =>
  request((_request, response) => response.writeHead(status, headers).end(body), more).catch(
    (error: unknown) => error as ApiError,
  );

test.each([false, true])('keeps every digit both ways (gated write: %j)', async (is_gated) => {
  const text = '{"flow_id":122097329108006499,"data":{"order_no":9007199254740993}}';
  const answer = await request((incoming, response) => incoming.pipe(response.writeHead(200)), {
    body: parseExact(text) as Json,
    ...(is_gated && { beforeWrite: async () => undefined }),
  });
  expect(JSON.stringify(answer)).toBe(text);
});

// The cause of an error is logged: a cut-off answer must not bring a customer's number into a log.
test('describes a cut-off answer without its content', async () => {
  const body = '{"messaging_product":"whatsapp","contacts":[{"input":"15550100777","wa_id":"155501';
  const error = await failure({ status: 200, body }, { send: true });
  expect(error).toMatchObject({ code: 'UPSTREAM_ERROR', details: { outcome: 'unknown' } });
  const cause = String((error as ApiError).cause);
  expect(cause).toContain(`HTTP 200 with ${body.length} characters`);
  expect(cause).not.toContain('15550100777');
});

describe('the upstream’s own id of an answer is kept with the error', () => {
  const error = (more: object): string => JSON.stringify({ error: { code: 100, ...more } });
  const headers = { 'x-fb-trace-id': 'FromTheHeader' };
  const named = error({ fbtrace_id: 'InTheBody' });

  test.each([
    ['an error that names it', { status: 400, body: named }, 'InTheBody'],
    [
      'an error that names it, before the header',
      { status: 400, headers, body: named },
      'InTheBody',
    ],
    ['an error that does not', { status: 400, headers, body: error({}) }, 'FromTheHeader'],
    ['a page', { status: 502, headers, body: '<html></html>' }, 'FromTheHeader'],
    ['what is no JSON', { status: 200, headers, body: 'ok' }, 'FromTheHeader'],
    ['an answer without one', { status: 500, body: '' }, undefined],
    ['one that is no text', { status: 400, body: error({ fbtrace_id: 7 }) }, undefined],
  ])('of %s', async (_name, canned, upstream_trace_id) => {
    expect(await failure(canned)).toMatchObject({ code: 'UPSTREAM_ERROR', upstream_trace_id });
  });
});
