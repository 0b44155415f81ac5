// Answers that are not read: their bytes count for their partner until the socket has taken them.
import { connect, type Socket } from 'node:net';
import type Router from '@koa/router';
import { eventually } from '../../../test/testkit/eventually';
import { useApp } from '../../test/app';
import { get, post } from '../endpoints/endpoint';
import { events } from '../endpoints/events/rows';
import { ANSWER_BYTES_SHARE, READ_BYTES_PER_S, READ_SHARE } from '../limits/answers';
import { createLoad, type Load } from '../limits/load';
import { contentBytes, pageBytes } from '../endpoints/parts/page-bytes';

const MIB = 1024 * 1024;
/** More than the buffers of two sockets take. */
const UNREAD = 'x'.repeat(12 * MIB);
const IN_FLIGHT_MAX = 4;
/** Requests that the default rate limit passes at once. */
const BURST = 200;

const { start: startApp, log } = useApp();
let answer: () => Promise<object>;
let calls: number;
let load: Load;
let port: number;
let sockets: Socket[];

const definition = {
  methods: { read: { requestType: { fromPartial: (fields: object) => fields } } },
};
const rpc = { definition, method: 'read', codecs: definition.methods.read } as never;
const LIST = {
  type: 'object',
  properties: { limit: { type: 'integer', default: 100 } },
} as never;

async function start(in_flight_max = IN_FLIGHT_MAX): Promise<void> {
  load = createLoad(in_flight_max, log);
  const read = async () => {
    calls += 1;
    return answer();
  };
  port = await startApp({
    endpoints: [
      get('/list', rpc, { scope: 'partner', reads: 'log', query: LIST }),
      get('/small', rpc, { scope: 'partner', reads: 'list', query: LIST }),
      get('/one', rpc, { scope: 'partner' }),
      post('/change', rpc, { scope: 'partner' }),
      ...events,
    ],
    load,
    client: () => ({ read, listEvents: read }),
    extend: (router: Router) =>
      router.get('/page', (context) => {
        context.body = UNREAD;
      }),
  });
}

beforeEach(async () => {
  calls = 0;
  sockets = [];
  answer = async () => ({ text: UNREAD });
  await start();
});
afterEach(() => sockets.forEach((socket) => socket.destroy()));

/** Requests on one connection, whose answers are not read. */
function unread(partner: string, path: string, times = 1): Socket {
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nx-partner-key: ${partner}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1', () => socket.write(request.repeat(times)));
  socket.on('error', () => undefined);
  socket.pause();
  sockets.push(socket);
  return socket;
}

const ask = (partner: string, path: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { 'x-partner-key': partner } });

test('the place of a request is free again once its answer is read, and not before', async () => {
  answer = async () => ({ text: 'x'.repeat(7 * MIB) });
  for (let count = 0; count < IN_FLIGHT_MAX / 2; count += 1) unread('a', '/v1/one');
  await eventually(() => calls === IN_FLIGHT_MAX / 2);
  answer = async () => ({ text: 'short' });
  const refused = await ask('a', '/v1/one');
  expect([refused.status, calls]).toEqual([503, IN_FLIGHT_MAX / 2]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask('b', '/v1/one')).status).toBe(200);
  sockets.forEach((socket) => socket.resume());
  await eventually(async () => (await ask('a', '/v1/one')).status === 200);
});

test('the bytes of unread answers are bounded before the next call of the service', async () => {
  const first = unread('a', '/v1/one');
  await eventually(() => calls === 1);
  const second = await ask('a', '/v1/one');
  expect(second.status).toBe(503);
  expect(await second.json()).toMatchObject({
    error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('not read yet') },
  });
  expect(calls).toBe(2);
  // 12 of 16 MiB wait: a list that may take 6 is not requested.
  expect((await ask('a', '/v1/list?limit=3000')).status).toBe(503);
  expect(calls).toBe(2);
  // Changes that were made are answered.
  const changed = await ask('a', '/v1/change', 'POST');
  expect(changed.status).toBe(200);
  await changed.text();
  first.destroy();
  await eventually(async () => (await ask('a', '/v1/one')).status === 200);
});

test('pipelined requests hold a place each, and free it when the connection closes', async () => {
  const socket = unread('a', '/v1/one', 3);
  await eventually(() => calls > 0);
  await eventually(async () => (await ask('a', '/v1/one')).status === 503);
  socket.destroy();
  await eventually(async () => (await ask('a', '/v1/one')).status === 200);
});

test('requests on a connection that stays open do not add up', async () => {
  answer = async () => ({ text: 'x'.repeat(MIB) });
  for (let count = 0; count < 40; count += 1) {
    const one = await ask('a', '/v1/one');
    expect(((await one.json()) as { text: string }).text).toHaveLength(MIB);
    const { status, headers } = one;
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(Number(headers.get('content-length'))).toBeGreaterThan(MIB);
  }
});

test('a burst of list reads as large as the default rate limit is served', async () => {
  await start(1_000);
  const release: Array<() => void> = [];
  answer = () => new Promise((resolve) => release.push(() => resolve({ text: 'short' })));
  const burst = Array.from({ length: BURST }, () => ask('a', '/v1/small'));
  await eventually(() => release.length === BURST);
  for (const end of release) end();
  expect(new Set((await Promise.all(burst)).map(({ status }) => status))).toEqual(new Set([200]));
});

test('bounds the reads of one partner in flight, and of no other', async () => {
  await start(1_000);
  const release: Array<() => void> = [];
  answer = () => new Promise((resolve) => release.push(() => resolve({ text: 'short' })));
  const reads = Array.from({ length: READ_SHARE.log }, () => ask('a', '/v1/list'));
  await eventually(() => release.length === READ_SHARE.log);
  const refused = await ask('a', '/v1/list');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  reads.push(ask('b', '/v1/list'), ask('a', '/v1/one'));
  await eventually(() => release.length === READ_SHARE.log + 2);
  for (const end of release) end();
  expect(new Set((await Promise.all(reads)).map(({ status }) => status))).toEqual(new Set([200]));
});

test.each([100, 1_000])(
  'reads of %i events that are on their way have room for the largest page each',
  async (limit) => {
    await start(1_000);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    answer = async () => {
      await released;
      return { events: [], next: 1, has_more: false, oldest: 1, newest: 1 };
    };
    const statuses: number[] = [];
    const reads = Array.from({ length: READ_SHARE.log }, async () =>
      statuses.push((await ask('a', `/v1/events?limit=${limit}`)).status),
    );
    await eventually(() => calls + statuses.length === READ_SHARE.log);
    const page_bytes = contentBytes(limit);
    expect(calls * page_bytes).toBeLessThanOrEqual(ANSWER_BYTES_SHARE);
    expect(calls).toBe(Math.min(READ_SHARE.log, Math.floor(ANSWER_BYTES_SHARE / pageBytes(limit))));
    release();
    await Promise.all(reads);
    expect(new Set(statuses)).toEqual(new Set(limit === 100 ? [200] : [200, 503]));
  },
);

test('limits the bytes per second of the reads of one partner, and of no other', async () => {
  answer = async () => ({ text: 'x'.repeat(MIB) });
  const read = async (partner: string): Promise<void> => {
    const one = await ask(partner, '/v1/list');
    expect(one.status).toBe(200);
    await one.text();
  };
  const count = jest.spyOn(load.read_rate, 'count');
  await read('a');
  expect(count).toHaveBeenCalledWith('a', expect.any(Number));
  expect(count.mock.calls[0]?.[1]).toBeGreaterThan(MIB);
  const started = performance.now();
  load.read_rate.count('a', 2 * READ_BYTES_PER_S);
  let done = false;
  const next = read('a').then(() => (done = true));
  await read('b');
  expect(done).toBe(false);
  await next;
  // After a rest, half a second of them is free.
  expect(performance.now() - started).toBeGreaterThan(1_400);
});

test('pages that are not read count for the network of their reader', async () => {
  unread('', '/page');
  await eventually(async () => (await ask('', '/page')).status === 503);
  answer = async () => ({ text: 'short' });
  expect((await ask('a', '/v1/one')).status).toBe(200);
  expect((await ask('', '/v1/health')).status).toBe(200);
  sockets[0]?.destroy();
  await eventually(async () => (await ask('', '/page')).status === 200);
});
