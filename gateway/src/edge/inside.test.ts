import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiError } from '@bmg/common/errors';
import type { LoggedRequest } from '@bmg/proto/onboarding';
import { DOUBLES, useApp } from '../../test/app';
import { createLoad } from '../limits/load';
import { readBody } from './body';
import { answerInside, type InsideRequest } from './inside';
import type { ObserveDependencies } from './observe';
import { hold } from './sending';
import type { State } from './state';

const { start, log } = useApp();
const MIB = 1024 * 1024;

let recorded: LoggedRequest[];
let left: number;
let port: number;
let chain: (inner: Context) => Promise<void>;
/** Between the inner answer and the outer one. */
let between: () => void;

const load = createLoad(10, log);
const request: InsideRequest = {
  verb: 'POST',
  path: '/v1/things/a%2Fb?limit=5',
  params: { id: 'a/b' },
  headers: { 'x-waba-id': '1' },
  body: '{"text":"ä"}',
};

beforeAll(async () => {
  const deps: ObserveDependencies = {
    ...DOUBLES,
    notices: { 'X-Notice': 'a' },
    load,
    requests: { takes: () => true, record: (_partner_id, request) => void recorded.push(request) },
  };
  const answer = async (context: Context) => {
    const { status, body, header } = await answerInside(context, request, chain, deps);
    between();
    context.body = { status, body, retry_after: header('Retry-After'), left };
    expect(header('X-None')).toBe('');
  };
  port = await start({
    ...deps,
    endpoints: [],
    extend: (router: Router) => router.get('/outer', answer),
  });
});
beforeEach(() => {
  [recorded, left, between] = [[], 0, () => undefined];
});

async function call() {
  const answer = await fetch(`http://127.0.0.1:${port}/outer`, {
    headers: { 'x-request-id': 'order-1' },
  });
  return (await answer.json()) as { status: number; body: string; retry_after: string };
}

/** What a chain does with every request. */
const admitted = (inner: Context, partner_id = 'prt_1'): State => {
  const state = inner.state as State;
  state.partner_id = partner_id;
  state.route = '/things/{id}';
  hold(inner, () => (left += 1));
  return state;
};

test('is the request of an endpoint: its query, parameters, headers, body and log', async () => {
  chain = async (inner) => {
    const { call } = admitted(inner);
    const body = await readBody(inner.req as IncomingMessage, { limit_bytes: MIB });
    inner.status = 201;
    inner.body = {
      ...{ body, query: inner.query, params: inner['params'], waba: inner.get('x-waba-id') },
      ...{ ip: inner.ip, request_id: call.request_id, in_time: call.deadline > Date.now() },
    };
  };
  const { status, body } = await call();
  expect(status).toBe(201);
  expect(JSON.parse(body)).toEqual({
    body: { text: 'ä' },
    query: { limit: '5' },
    params: { id: 'a/b' },
    waba: '1',
    ip: '127.0.0.1',
    request_id: 'order-1',
    in_time: true,
  });
  expect(recorded).toMatchObject([
    { method: 'POST', path: '/things/{id}', status: 201, request_id: 'order-1' },
  ]);
});

test('holds its places until the outer answer is sent', async () => {
  chain = async (inner) => {
    admitted(inner);
    inner.body = { success: true };
  };
  expect(await call()).toMatchObject({ status: 200, left: 0 });
  expect(left).toBe(1);
});

test('answers a failure as an endpoint does, and the outer request continues', async () => {
  chain = async (inner) => {
    admitted(inner);
    throw new ApiError('RATE_LIMIT_EXCEEDED', 'slow down', { retry_after_s: 3 });
  };
  const { status, body, retry_after } = await call();
  expect([status, retry_after]).toEqual([429, '3']);
  expect(JSON.parse(body)).toMatchObject({
    success: false,
    error: { code: 'RATE_LIMIT_EXCEEDED', request_id: 'order-1' },
  });
  expect(recorded).toMatchObject([{ status: 429, code: 'RATE_LIMIT_EXCEEDED' }]);
});

test('a body that its chain refuses to read does not break the connection', async () => {
  chain = async (inner) => {
    admitted(inner);
    await readBody(inner.req as IncomingMessage, { limit_bytes: 3 });
  };
  expect((await call()).status).toBe(400);
  expect((await call()).status).toBe(400);
});

test('the bytes of its answer count for its partner until the outer answer is sent', async () => {
  const text = 'x'.repeat(9 * MIB);
  const more = (): void => {
    const room = load.answerRoom('prt_large');
    room.resize(9 * MIB);
    room.release();
  };
  chain = async (inner) => {
    admitted(inner, 'prt_large');
    more();
    inner.body = { text };
  };
  // The share of a partner is 16 MiB.
  between = () => expect(more).toThrow(/too many bytes of answers/);
  expect(JSON.parse((await call()).body)).toEqual({ text });
  expect(more).not.toThrow();
});
