import { randomBytes } from 'node:crypto';
import { createServer, connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { openRedis, type RedisConnection } from '@bmg/common/redis';
import { createLogger } from '@bmg/common/telemetry';
import { createRecords, KEPT_MS, recordKey, type Asked, type Ticket } from './records';

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
const anAsked = (over: Partial<Asked> = {}): Asked => ({
  partner_id: 'par_1',
  key: `key-${(serial += 1)}`,
  fingerprint: 'print-1',
  lease_ms: 60_000,
  again: false,
  ...over,
});
const OK = { status: 200, body: '{"success":true,"message_id":"wamid.1"}' };

async function begun(asked: Asked, records = first): Promise<Ticket> {
  const answer = await records.begin(asked);
  if (answer.state !== 'begun') throw new Error(`it is ${answer.state}`);
  return answer.ticket;
}
const stateOf = async (asked: Asked, records = first): Promise<string> =>
  (await records.begin(asked)).state;
/** Begun by a worker that has died: its lease is over. */
async function abandoned(over: Partial<Asked> = {}): Promise<{ asked: Asked; ticket: Ticket }> {
  const asked = anAsked(over);
  const ticket = await begun({ ...asked, lease_ms: 0 });
  return { asked, ticket };
}

test('of many equal requests at two replicas exactly one begins', async () => {
  const asked = anAsked();
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, place) => stateOf(asked, place % 2 ? first : second)),
  );
  expect(all.filter((state) => state === 'begun')).toHaveLength(1);
  expect(all.filter((state) => state === 'running')).toHaveLength(39);
});

test('a kept answer is given to every replica, and to nobody with another body', async () => {
  const asked = anAsked();
  await first.settle(await begun(asked), 'keep', OK);
  for (const records of [first, second]) {
    expect(await records.begin(asked)).toEqual({ state: 'done', answer: OK });
    expect(await stateOf({ ...asked, fingerprint: 'print-2' }, records)).toBe('reused');
  }
});

test('another body is told apart while the first one runs, too', async () => {
  const asked = anAsked();
  await begun(asked);
  expect(await stateOf({ ...asked, fingerprint: 'print-2' })).toBe('reused');
});

test('keys of two partners have nothing to do with each other', async () => {
  const asked = anAsked();
  await begun(asked);
  expect(await stateOf({ ...asked, partner_id: 'par_2', fingerprint: 'print-2' })).toBe('begun');
});

test('a forgotten key is free at once, for another body too, under a new request id', async () => {
  const asked = anAsked();
  const ticket = await begun(asked);
  await first.settle(ticket, 'forget');
  const next = await begun({ ...asked, fingerprint: 'print-2' }, second);
  expect(next.request_id).not.toBe(ticket.request_id);
});

test('records are gone after a day, counted from the first request', async () => {
  const asked = anAsked();
  const life = (): Promise<number> => connection.redis.pttl(recordKey(asked));
  const ticket = await begun(asked);
  expect(await life()).toBeGreaterThan(KEPT_MS - 10_000);
  expect(await life()).toBeLessThanOrEqual(KEPT_MS);
  await connection.redis.pexpire(recordKey(asked), 5_000);
  await first.settle(ticket, 'keep', OK);
  expect(await life()).toBeLessThanOrEqual(5_000);
});

test('a kept record holds the answer and the fingerprint, and no key in clear', async () => {
  const asked = anAsked({ key: 'a-customer-name' });
  await first.settle(await begun(asked), 'keep', OK);
  expect(recordKey(asked)).not.toContain('customer');
  expect(await connection.redis.hgetall(recordKey(asked))).toEqual({
    f: 'print-1',
    s: '200',
    b: OK.body,
  });
});

describe('work whose end is not known', () => {
  test('is told as unknown under its own request id, and does not begin again', async () => {
    const asked = anAsked();
    const ticket = await begun(asked);
    await first.settle(ticket, 'unknown');
    for (const records of [first, second]) {
      expect(await records.begin(asked)).toEqual({ state: 'unknown', ticket });
    }
    expect(await stateOf({ ...asked, fingerprint: 'print-2' })).toBe('reused');
  });

  test('is that of a worker whose lease is over', async () => {
    const { asked, ticket } = await abandoned();
    expect(await second.begin(asked)).toEqual({ state: 'unknown', ticket });
  });

  test('ends with what has been learnt', async () => {
    const { asked, ticket } = await abandoned();
    await second.settle(ticket, 'keep', OK);
    expect(await first.begin(asked)).toEqual({ state: 'done', answer: OK });
  });

  test('ends with the answer of a worker that was only slow', async () => {
    const { asked, ticket } = await abandoned();
    expect(await stateOf(asked, second)).toBe('unknown');
    await first.settle(ticket, 'keep', OK);
    expect(await stateOf(asked, second)).toBe('done');
  });

  test('begins again where that is safe: once at a time, under the same request id', async () => {
    const { asked, ticket } = await abandoned({ again: true });
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, place) => (place % 2 ? first : second).begin(asked)),
    );
    const winners = all.flatMap((one) => (one.state === 'begun' ? one.ticket : []));
    expect(winners).toHaveLength(1);
    expect(winners[0]?.request_id).toBe(ticket.request_id);
    expect(winners[0]?.attempt).not.toBe(ticket.attempt);
    expect(all.filter(({ state }) => state === 'running')).toHaveLength(9);
  });

  test('belongs to the latest attempt: an earlier one that comes late changes nothing', async () => {
    const { asked, ticket } = await abandoned({ again: true });
    const later = await begun(asked, second);
    await first.settle(ticket, 'forget');
    expect(await stateOf(asked)).toBe('running');
    await second.settle(later, 'keep', OK);
    await first.settle(ticket, 'keep', { status: 502, body: '{}' });
    expect(await first.begin(asked)).toEqual({ state: 'done', answer: OK });
  });

  test('stays unknown when a further attempt is refused: that says nothing of the first one', async () => {
    const { asked, ticket } = await abandoned({ again: true });
    await second.settle(await begun(asked, second), 'forget');
    expect((await begun(asked)).request_id).toBe(ticket.request_id);
  });
});

describe('when Redis', () => {
  test('has lost its memory, an answer is kept all the same and a free key stays free', async () => {
    const [kept, freed] = [anAsked(), anAsked()];
    const tickets = [await begun(kept), await begun(freed)] as const;
    await connection.redis.del(recordKey(kept), recordKey(freed));
    await first.settle(tickets[0], 'keep', OK);
    await first.settle(tickets[1], 'forget');
    expect(await first.begin(kept)).toEqual({ state: 'done', answer: OK });
    expect(await connection.redis.pttl(recordKey(kept))).toBeGreaterThan(KEPT_MS - 10_000);
    expect(await stateOf(freed)).toBe('begun');
  });

  test('is away, nothing begins', async () => {
    const away = await open();
    await away.stop();
    await expect(createRecords(away, log).begin(anAsked())).rejects.toThrow();
  });

  test('answers too late, what it has begun is taken back: nobody is at work there', async () => {
    const link = await startLink();
    const records = createRecords(await open(link.url), log);
    const asked = anAsked();
    link.hold();
    await expect(records.begin(asked)).rejects.toThrow();
    await until(async () => (await stateOf({ ...asked, fingerprint: 'print-2' })) === 'begun');
  });

  test('is away when the work ends, the outcome is written once it is back', async () => {
    const link = await startLink();
    const records = createRecords(await open(link.url), log);
    const asked = anAsked();
    const ticket = await begun(asked, records);
    await link.cut();
    await records.settle(ticket, 'keep', OK);
    expect(await stateOf(asked)).toBe('running');
    await link.restore();
    await until(async () => (await stateOf(asked)) === 'done');
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const limit = Date.now() + 10_000;
  while (!(await holds())) {
    if (Date.now() > limit) throw new Error('the condition did not hold');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A way to Redis that can be cut, and whose answers can be held back. */
async function startLink() {
  const { hostname, port } = new URL(process.env['REDIS_URL'] as string);
  const sockets = new Set<Socket>();
  const answers = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    answers.add(far);
    near.pipe(far);
    far.pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
  });
  const listen = (at: number) =>
    new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const link = {
    url: `redis://127.0.0.1:${own}`,
    hold: () => answers.forEach((socket) => socket.pause()),
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
