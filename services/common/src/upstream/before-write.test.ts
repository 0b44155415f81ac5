// A request that needs a permission first, which is obtained when only the write is left.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { useLocalServers } from '../../test/local-servers';
import { call } from '../../test/rpc';
import { ApiError } from '../errors';
import { createUpstream, type Upstream } from './client';

const BODY = { text: 'Grüße', to: '15550100777' };

const { urlOf } = useLocalServers();
let server: Server;
let upstream: Upstream;
let connections = 0;
let received: unknown[] = [];
let bytes = 0;

beforeEach(async () => {
  [connections, received, bytes] = [0, [], 0];
  server = createServer(async (request, response) => {
    received.push(await json(request));
    response.end('{"ok":true}');
  });
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('data', (chunk) => (bytes += chunk.length));
  });
  upstream = createUpstream({
    UPSTREAM_URL: await urlOf(server),
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
});
afterEach(() => upstream.stop());

const send = (beforeWrite: () => Promise<void>): Promise<unknown> =>
  upstream.request(
    {
      operation: 'POST /messages',
      method: 'POST',
      path: '/m',
      send: true,
      body: BODY,
      beforeWrite,
    },
    call(),
  );

test('is called once the connection is open, before any byte has left', async () => {
  const before: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    let opened = 0;
    const answer = await send(async () => {
      // Time for the server to accept the connection, and to receive bytes that were sent too
      // early.
      for (let turn = 0; turn < 50 && connections === 0; turn += 1) await nextTurn();
      await new Promise((resolve) => setTimeout(resolve, 20));
      before.push(received.length);
      opened = connections;
      if (count === 0) expect(bytes).toBe(0);
    });
    expect(answer).toEqual({ ok: true });
    expect(opened).toBeGreaterThan(0);
    expect(connections).toBe(opened);
  }
  expect(before).toEqual([0, 1, 2]);
  expect(received).toEqual([BODY, BODY, BODY]);
});

test('the request leaves in the turn of the event loop in which it was permitted', async () => {
  let turn = 0;
  let permitted_in = -1;
  const left_in: number[] = [];
  const onSent = (): void => void left_in.push(turn);
  subscribe('undici:request:bodySent', onSent);
  try {
    for (let count = 0; count < 3; count += 1) {
      await send(async () => {
        await nextTurn();
        permitted_in = turn += 1;
        setImmediate(() => (turn += 1));
      });
      expect(left_in.at(-1)).toBe(permitted_in);
    }
  } finally {
    unsubscribe('undici:request:bodySent', onSent);
  }
  expect(left_in).toHaveLength(3);
});

test('nothing leaves without the permission, and the error is its own', async () => {
  const refusal = new ApiError('SERVER_ERROR', 'refused', { details: { outcome: 'unknown' } });
  await expect(send(() => Promise.reject(refusal))).rejects.toBe(refusal);
  await send(async () => undefined);
  expect(received).toHaveLength(1);
});

test('is not called while the upstream is unreachable', async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const permit = jest.fn(async () => undefined);
  await expect(send(permit)).rejects.toMatchObject({ retryable: true });
  expect(permit).not.toHaveBeenCalled();
});

test('a connection that breaks before the permission leaves nothing in doubt', async () => {
  let permit = (): void => undefined;
  const sending = send(
    () =>
      new Promise((resolve) => {
        permit = resolve;
        setTimeout(() => server.closeAllConnections(), 20);
      }),
  );
  await expect(sending).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', retryable: true });
  permit();
  await nextTurn();
  expect(received).toEqual([]);
});
