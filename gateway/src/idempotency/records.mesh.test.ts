import { randomBytes } from 'node:crypto';
import { createServer, connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { RETENTION_MS } from '@bmg/common/idempotency';
import { pause } from '@bmg/common/lifecycle';
import { openRedis, type RedisConnection } from '@bmg/common/redis';
import { createLogger } from '@bmg/common/telemetry';
import { createRecords, recordKey, type BeginRequest, type Ticket } from './records';
import { eventually } from '../../../test/testkit/eventually';
import { joinSockets } from '../../../test/testkit/join-sockets';

const REDIS_KEY_PREFIX = `idempotency-${randomBytes(5).toString('hex')}:`;
const log = createLogger('test');
const open = async (REDIS_URL = process.env['REDIS_URL'] as string): Promise<RedisConnection> => {
  const connection = openRedis({ REDIS_URL, REDIS_KEY_PREFIX }, log);
  await connection.start(new AbortController().signal);
  opened.push(connection);
  return connection;
};
const opened: RedisConnection[] = [];
const links: Array<{ cut(): Promise<void> }> = [];

let connection: RedisConnection;
let first: ReturnType<typeof createRecords>;
/** Another replica. */
let second: ReturnType<typeof createRecords>;
beforeAll(async () => {
  connection = await open();
  first = createRecords(connection, log);
  second = createRecords(await open(), log);
});
afterAll(async () => {
  const keys = await connection.redis.keys(`${REDIS_KEY_PREFIX}*`);
  const names = keys.map((key) => key.slice(REDIS_KEY_PREFIX.length));
  if (names.length > 0) await connection.redis.del(...names);
  await Promise.all(opened.map((one) => one.stop()));
  await Promise.all(links.map((link) => link.cut()));
});

let serial = 0;
const aRequest = (overrides: Partial<BeginRequest> = {}): BeginRequest => ({
  partner_id: 'par_1',
  key: `key-${(serial += 1)}`,
  fingerprint: 'print-1',
  lease_ms: 60_000,
  repeatable: false,
  ...overrides,
});
const OK = { status: 200, body: '{"success":true,"message_id":"wamid.1"}' };

async function begin(request: BeginRequest, records = first): Promise<Ticket> {
  const result = await records.begin(request);
  if (result.state !== 'begun') throw new Error(`expected begun, got ${result.state}`);
  return result.ticket;
}
const stateOf = async (request: BeginRequest, records = first): Promise<string> =>
  (await records.begin(request)).state;
/** Begun by a worker that has died: its lease has ended. */
async function abandoned(
  overrides: Partial<BeginRequest> = {},
): Promise<{ request: BeginRequest; ticket: Ticket }> {
  const request = aRequest(overrides);
  const ticket = await begin({ ...request, lease_ms: 0 });
  return { request, ticket };
}

test('of many equal requests at two replicas exactly one begins', async () => {
  const request = aRequest();
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, place) => stateOf(request, place % 2 ? first : second)),
  );
  expect(all.filter((state) => state === 'begun')).toHaveLength(1);
  expect(all.filter((state) => state === 'running')).toHaveLength(39);
});

test('every replica replays a stored answer, and refuses another body', async () => {
  const request = aRequest();
  await first.complete(await begin(request), 'final', OK);
  for (const records of [first, second]) {
    expect(await records.begin(request)).toEqual({ state: 'done', answer: OK });
    expect(await stateOf({ ...request, fingerprint: 'print-2' }, records)).toBe('reused');
  }
});

test('refuses another body while the first request runs', async () => {
  const request = aRequest();
  await begin(request);
  expect(await stateOf({ ...request, fingerprint: 'print-2' })).toBe('reused');
});

test('keeps the keys of two partners apart', async () => {
  const request = aRequest();
  await begin(request);
  expect(await stateOf({ ...request, partner_id: 'par_2', fingerprint: 'print-2' })).toBe('begun');
});

test('a key whose work was not done is free at once, for another body too, under a new request id', async () => {
  const request = aRequest();
  const ticket = await begin(request);
  await first.complete(ticket, 'not_done');
  const next = await begin({ ...request, fingerprint: 'print-2' }, second);
  expect(next.request_id).not.toBe(ticket.request_id);
});

test('records expire a day after the first request', async () => {
  const request = aRequest();
  const life = (): Promise<number> => connection.redis.pttl(recordKey(request));
  const ticket = await begin(request);
  expect(await life()).toBeGreaterThan(RETENTION_MS - 10_000);
  expect(await life()).toBeLessThanOrEqual(RETENTION_MS);
  await connection.redis.pexpire(recordKey(request), 5_000);
  await first.complete(ticket, 'final', OK);
  expect(await life()).toBeLessThanOrEqual(5_000);
});

test('a final record holds the answer and the fingerprint, and not the key itself', async () => {
  const request = aRequest({ key: 'a-customer-name' });
  await first.complete(await begin(request), 'final', OK);
  expect(recordKey(request)).not.toContain('customer');
  expect(await connection.redis.hgetall(recordKey(request))).toEqual({
    f: 'print-1',
    s: '200',
    b: OK.body,
  });
});

describe('work with an unknown outcome', () => {
  test('is unknown under its request id, and does not begin again', async () => {
    const request = aRequest();
    const ticket = await begin(request);
    await first.complete(ticket, 'unknown');
    for (const records of [first, second]) {
      expect(await records.begin(request)).toEqual({ state: 'unknown', ticket });
    }
    expect(await stateOf({ ...request, fingerprint: 'print-2' })).toBe('reused');
  });

  test('ends with the outcome that was looked up', async () => {
    const { request, ticket } = await abandoned();
    await second.complete(ticket, 'final', OK);
    expect(await first.begin(request)).toEqual({ state: 'done', answer: OK });
  });

  test('is the work of a worker whose lease has ended, up to the answer of one that was slow', async () => {
    const { request, ticket } = await abandoned();
    expect(await second.begin(request)).toEqual({ state: 'unknown', ticket });
    await first.complete(ticket, 'final', OK);
    expect(await stateOf(request, second)).toBe('done');
  });

  test('begins again if that is safe: one run at a time, under the same request id', async () => {
    const { request, ticket } = await abandoned({ repeatable: true });
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, place) => (place % 2 ? first : second).begin(request)),
    );
    const winners = all.flatMap((one) => (one.state === 'begun' ? one.ticket : []));
    expect(winners).toHaveLength(1);
    expect(winners[0]?.request_id).toBe(ticket.request_id);
    expect(winners[0]?.run_id).not.toBe(ticket.run_id);
    expect(all.filter(({ state }) => state === 'running')).toHaveLength(9);
  });

  test('belongs to the latest run: an earlier run that ends late changes nothing', async () => {
    const { request, ticket } = await abandoned({ repeatable: true });
    const later = await begin(request, second);
    await first.complete(ticket, 'not_done');
    expect(await stateOf(request)).toBe('running');
    await second.complete(later, 'final', OK);
    await first.complete(ticket, 'final', { status: 502, body: '{}' });
    expect(await first.begin(request)).toEqual({ state: 'done', answer: OK });
  });

  test('stays unknown when a later run is refused, because the first one may have succeeded', async () => {
    const { request, ticket } = await abandoned({ repeatable: true });
    await second.complete(await begin(request, second), 'not_done');
    expect((await begin(request)).request_id).toBe(ticket.request_id);
  });
});

describe('when Redis', () => {
  test('has lost its data, an answer is still stored and a free key stays free', async () => {
    const [kept, freed] = [aRequest(), aRequest()];
    const tickets = [await begin(kept), await begin(freed)] as const;
    await connection.redis.del(recordKey(kept), recordKey(freed));
    await first.complete(tickets[0], 'final', OK);
    await first.complete(tickets[1], 'not_done');
    expect(await first.begin(kept)).toEqual({ state: 'done', answer: OK });
    expect(await connection.redis.pttl(recordKey(kept))).toBeGreaterThan(RETENTION_MS - 10_000);
    expect(await stateOf(freed)).toBe('begun');
  });

  test('answers too late, the begun record is removed again', async () => {
    const link = await startLink();
    const records = createRecords(await open(link.url), log);
    const request = aRequest();
    link.hold();
    await expect(records.begin(request)).rejects.toThrow();
    await eventually(
      async () => (await stateOf({ ...request, fingerprint: 'print-2' })) === 'begun',
    );
  });

  test('is late, the request begins once, as soon as it answers', async () => {
    const link = await startLink();
    const records = createRecords(await open(link.url), log);
    const request = aRequest();
    link.hold();
    const begun = begin(request, records);
    // Longer than other commands wait.
    await pause(600);
    expect(await stateOf(request)).toBe('running');
    link.release();
    const ticket = await begun;
    expect(await stateOf(request, records)).toBe('running');
    await records.complete(ticket, 'final', OK);
    expect(await first.begin(request)).toEqual({ state: 'done', answer: OK });
  });

  test('is down when the work ends, the outcome is stored once it is back', async () => {
    const link = await startLink();
    const records = createRecords(await open(link.url), log);
    const request = aRequest();
    const ticket = await begin(request, records);
    await link.cut();
    await records.complete(ticket, 'final', OK);
    expect(await stateOf(request)).toBe('running');
    await link.restore();
    await eventually(async () => (await stateOf(request)) === 'done');
  });
});

/** A proxy to Redis whose connections can be cut and whose answers can be held back. */
async function startLink() {
  const { hostname, port } = new URL(process.env['REDIS_URL'] as string);
  const sockets = new Set<Socket>();
  const answers = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    answers.add(far);
    joinSockets(near, far, sockets);
  });
  const listen = (at: number) =>
    new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const link = {
    url: `redis://127.0.0.1:${own}`,
    hold: () => answers.forEach((socket) => socket.pause()),
    release: () => answers.forEach((socket) => socket.resume()),
    cut: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
    restore: () => listen(own),
  };
  links.push(link);
  return link;
}

describe('the quota of a partner', () => {
  const records = (): ReturnType<typeof createRecords> => createRecords(connection, log, 3);

  test('refuses further keys once it is used up, and no known key or other partner', async () => {
    const [partner_id, few] = ['par_quota', records()];
    const requests = Array.from({ length: 3 }, () => aRequest({ partner_id }));
    for (const request of requests) await begin(request, few);
    expect(await stateOf(aRequest({ partner_id }), few)).toBe('full');
    expect(await stateOf(requests[0] as BeginRequest, few)).toBe('running');
    expect(await stateOf(aRequest({ partner_id: 'par_other' }), few)).toBe('begun');
  });

  test('counts no work that was not done, and a long answer as several records', async () => {
    const [partner_id, few] = ['par_parts', records()];
    for (let time = 0; time < 5; time += 1) {
      await few.complete(await begin(aRequest({ partner_id }), few), 'not_done');
    }
    const ticket = await begin(aRequest({ partner_id }), few);
    await few.complete(ticket, 'final', { status: 200, body: 'x'.repeat(2_048) });
    expect(await stateOf(aRequest({ partner_id }), few)).toBe('full');
  });

  test('forgets the records of the day before', async () => {
    const [partner_id, few] = ['par_day', records()];
    const name = `bmg:{${partner_id}}:idempotency-counts`;
    const hour = Math.floor(Date.now() / 3_600_000);
    await connection.redis.hset(name, String(hour - 24), 3);
    expect(await stateOf(aRequest({ partner_id }), few)).toBe('begun');
    expect(await connection.redis.hget(name, String(hour - 24))).toBeNull();
  });
});
