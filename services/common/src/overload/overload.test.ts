// Bounds on concurrent work, and deliberately slow clients.
import type { RequestListener, Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { eventually } from '../../../../test/testkit/eventually';
import { metrics } from '../telemetry';
import { createBound, createBoundedServer, createPool, type HttpLimits, type Pool } from '.';

const lines: object[] = [];
const log = { warn: (facts: object) => lines.push(facts) } as never;
beforeEach(() => lines.splice(0));

const shed = async (server: string, reason: string): Promise<number> => {
  const { values } = await metrics.requests_shed.get();
  const found = values.find(
    ({ labels }) => labels['server'] === server && labels['reason'] === reason,
  );
  return found?.value ?? 0;
};

describe('a bound', () => {
  test('accepts work up to the bound and again after some was given back', () => {
    const bound = createBound({ server: 'one', reason: 'requests', max: 2 }, log);
    expect([bound.take(), bound.take(), bound.take()]).toEqual([true, true, false]);
    bound.give();
    expect([bound.take(), bound.take()]).toEqual([true, false]);
  });

  test('counts amounts and accepts a single large one', () => {
    const bound = createBound({ server: 'two', reason: 'body_bytes', max: 10 }, log);
    expect([bound.take(100), bound.take(1)]).toEqual([true, false]);
    bound.give(100);
    expect([bound.take(6), bound.take(4), bound.take(1)]).toEqual([true, true, false]);
  });

  test('counts every refusal and logs at intervals', async () => {
    const bound = createBound({ server: 'three', reason: 'requests', max: 1 }, log);
    bound.take();
    for (let time = 0; time < 50; time += 1) bound.take();
    expect(await shed('three', 'requests')).toBe(50);
    expect(lines).toEqual([{ server: 'three', reason: 'requests', max: 1, refused: 1 }]);
  });
});

describe('a pool', () => {
  const options = { server: 'four', reason: 'transfers', holder: 'partner', max: 4 } as const;
  const take = (pool: Pool, ...takes: [holder: string, amount?: number][]): boolean[] =>
    takes.map((one) => pool.take(...one));

  test('gives each holder at most its share, and all together at most its size', async () => {
    const pool = createPool(options, log);
    expect(take(pool, ['a'], ['a'], ['a'])).toEqual([true, true, false]);
    expect(take(pool, ['b'], ['b'], ['c'])).toEqual([true, true, false]);
    pool.give('a');
    expect(take(pool, ['c'], ['a'])).toEqual([true, false]);
    expect(await shed('four', 'transfers_of_partner')).toBe(1);
    expect(await shed('four', 'transfers')).toBe(2);
  });

  test('reserves a floor for each holder, which others cannot use up', () => {
    const pool = createPool({ ...options, max: 100, floor: { of_holder: 10, max: 20 } }, log);
    expect(take(pool, ['a', 50], ['b', 50], ['c', 11])).toEqual([true, true, false]);
    expect(take(pool, ['c', 10], ['c', 1], ['a', 10])).toEqual([true, false, true]);
    // The floors of all holders are bounded too.
    expect(take(pool, ['d', 1])).toEqual([false]);
    pool.give('a', 60);
    expect(take(pool, ['d', 60], ['d', 50], ['c', 0])).toEqual([false, true, true]);
    pool.give('c', 10);
    expect(take(pool, ['e', 10], ['f', 10])).toEqual([true, true]);
  });

  test('counts amounts, and forgets a holder without any', () => {
    const pool = createPool({ ...options, max: 100 }, log);
    expect(take(pool, ['a', 30], ['a', 20], ['a', 1])).toEqual([true, true, false]);
    pool.give('a', 50);
    expect(take(pool, ['a', 50], ['b', 50], ['c', 1])).toEqual([true, true, false]);
  });

  test('counts what it had to take beyond its bounds', () => {
    const pool = createPool({ ...options, max: 100, floor: { of_holder: 5, max: 5 } }, log);
    pool.force('a', 5);
    expect(take(pool, ['b', 50], ['c', 50])).toEqual([true, true]);
    pool.force('a', 30);
    expect(take(pool, ['d'])).toEqual([false]);
    pool.give('b', 50);
    expect(take(pool, ['d', 20], ['d'])).toEqual([true, false]);
    pool.give('a', 35);
    expect(take(pool, ['d', 30], ['d', 5])).toEqual([true, true]);
  });

  test('holds a part while work runs, and takes it back when the work fails', async () => {
    const pool = createPool(options, log);
    const full = (): Error => new Error('full');
    expect(await pool.run('a', full, async () => take(pool, ['a', 2]))).toEqual([false]);
    const broken = pool.run('a', full, () => Promise.reject(new Error('broken')), 2);
    await expect(broken).rejects.toThrow('broken');
    expect(take(pool, ['a', 2])).toEqual([true]);
    const work = jest.fn();
    await expect(pool.run('a', full, work)).rejects.toThrow('full');
    expect(work).not.toHaveBeenCalled();
  });
});

describe('a server against slow clients', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });

  const readAll: RequestListener = (request, response) => {
    request.resume().on('end', () => response.end('ok'));
    request.on('error', () => undefined);
  };
  async function opened(server: ReturnType<typeof createBoundedServer>): Promise<number> {
    servers.push(server);
    await server.open(0, '127.0.0.1');
    return (server.address() as AddressInfo).port;
  }
  const listening = (limits: Partial<HttpLimits>, name = 'slow'): Promise<number> =>
    opened(createBoundedServer({ server: name, limits }, readAll));
  /** This counts the connections of the server that was opened last. */
  const counted = (): Promise<number> =>
    new Promise((resolve) => servers.at(-1)?.getConnections((_error, count) => resolve(count)));
  /** Collects the server's bytes and whether it has closed the connection. */
  function client(port: number, text: string) {
    // The client never closes its own side.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    const state = { said: '', closed: false, socket };
    socket.on('data', (chunk) => (state.said += String(chunk)));
    socket.on('close', () => (state.closed = true));
    socket.on('end', () => (state.closed = true));
    socket.on('error', () => (state.closed = true));
    socket.write(text);
    return state;
  }

  /** Sends the text again and again until the server closes the connection. */
  async function trickle(sender: ReturnType<typeof client>, text: string): Promise<void> {
    const timer = setInterval(() => sender.socket.write(text), 20);
    await eventually(() => sender.closed);
    clearInterval(timer);
  }

  test('closes a connection whose headers trickle in', async () => {
    const port = await listening({ headers_ms: 100, request_ms: 10_000 });
    const slow = client(port, 'GET / HTTP/1.1\r\nHost: x\r\n');
    await trickle(slow, 'x-a: b\r\n');
    expect(slow.said).toMatch(/^HTTP\/1\.1 408 /);
    expect(await shed('slow', 'slow')).toBeGreaterThan(0);
  });

  test('closes a connection whose body trickles in', async () => {
    const port = await listening({ headers_ms: 100, request_ms: 200 });
    const slow = client(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
    await trickle(slow, 'x');
  });

  test('closes a connection without a request, and without an answer', async () => {
    const port = await listening({ headers_ms: 100, request_ms: 200 });
    const idle = client(port, '');
    await eventually(() => idle.closed);
    // A client that sends its first request at that moment would take an answer for its own.
    expect(idle.said).toBe('');
  });

  test('answers a request that arrives in time', async () => {
    const port = await listening({ headers_ms: 5_000, request_ms: 5_000 });
    const well = client(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab');
    await eventually(() => well.said.includes('200 OK'));
  });

  describe('a request that is answered before its body was read', () => {
    const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n';
    const refusing = (linger_ms: number): Promise<number> =>
      opened(
        createBoundedServer({ server: 'refusing', limits: { linger_ms } }, (_request, response) =>
          response.writeHead(413).end('too large'),
        ),
      );

    test('has its answer read by a client that sends the whole body first', async () => {
      const well = client(await refusing(20_000), HEAD);
      well.socket.pause();
      await new Promise((sent) => well.socket.write(Buffer.alloc(20_000_000), sent));
      well.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na');
      well.socket.resume();
      await eventually(() => well.said.split('413 Payload Too Large').length === 3);
      expect(well.closed).toBe(false);
    });

    test('is closed when the rest of its body takes too long', async () => {
      const endless = client(await refusing(100), HEAD);
      await trickle(endless, 'x');
      expect(endless.said).toContain('413 Payload Too Large');
    });
  });

  test('makes clients connect elsewhere once it drains', async () => {
    const server = createBoundedServer({ server: 'draining' }, readAll);
    const url = `http://127.0.0.1:${await opened(server)}`;
    expect((await fetch(url)).headers.get('connection')).toBe('keep-alive');
    server.drain();
    expect((await fetch(url)).headers.get('connection')).toBe('close');
  });

  test('closes and counts connections beyond the bound', async () => {
    const port = await listening({ connections_max: 2 }, 'full');
    const held = [client(port, 'GET / HTTP/1.1\r\n'), client(port, 'GET / HTTP/1.1\r\n')];
    await eventually(async () => (await counted()) === 2);
    const refused = client(port, 'GET / HTTP/1.1\r\n');
    await eventually(() => refused.closed);
    expect(held.map(({ closed }) => closed)).toEqual([false, false]);
    expect(await shed('full', 'connections')).toBe(1);
  });

  describe('with many connections of one network', () => {
    const HELD = 'GET / HTTP/1.1\r\n';
    const open = (name: string, proxy_hops?: number): Promise<number> => {
      const limits = { connections_of_network_max: 2 };
      return opened(createBoundedServer({ server: name, limits, proxy_hops }, readAll));
    };

    test('closes and counts those beyond its share, and accepts one again after an end', async () => {
      const port = await open('shares', 0);
      const held = [client(port, HELD), client(port, HELD)];
      await eventually(async () => (await counted()) === 2);
      const refused = client(port, HELD);
      await eventually(() => refused.closed);
      expect(held.map(({ closed }) => closed)).toEqual([false, false]);
      expect(await shed('shares', 'connections_of_network')).toBe(1);
      held[0]?.socket.destroy();
      await eventually(async () => (await counted()) === 1);
      const accepted = client(port, `${HELD}Host: x\r\n\r\n`);
      await eventually(() => accepted.said.startsWith('HTTP/1.1 200'));
    });

    test.each([undefined, 1])('accepts them all with %s proxies in front', async (hops) => {
      const port = await open(`proxied-${hops}`, hops);
      for (let count = 0; count < 4; count += 1) client(port, HELD);
      await eventually(async () => (await counted()) === 4);
    });
  });
});
