// The addresses to which the agent connects. Tests that need a public address replace `dial`, so
// that they connect to loopback only.
import { createServer } from 'node:http';
import {
  connect,
  createServer as createTcpServer,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import { useAgents } from '../../test/agents';
import { useLocalServers } from '../../test/local-servers';
import type { GuardedAgent } from './guarded';
import { guardedPost } from './post';
import type { ResolvedAddress } from './addresses';

const BODY = Buffer.from('{}');
const v4 = (address: string): ResolvedAddress => ({ address, family: 4 });

const { portOf: listening } = useLocalServers();
const agentWith = useAgents();

const post = (url: string, agent: GuardedAgent, timeout_ms = 4_000) =>
  guardedPost(url, BODY, { agent, pool: 'ptn_a', headers: {}, timeout_ms });

describe('the answers of the resolver', () => {
  test.each([
    ['a private one', ['10.0.0.1']],
    ['a private one among public ones', ['93.184.216.34', '8.8.8.8', '10.0.0.1']],
    ['loopback', ['127.0.0.1']],
    ['metadata', ['169.254.169.254']],
  ])('%s refuses the URL without connecting to any of them', async (_case, addresses) => {
    const released: unknown[] = [];
    const dial = (options: TcpNetConnectOpts) =>
      connect({
        ...options,
        lookup: (host, how, callback) =>
          options.lookup?.(host, how, (error, found) => {
            if (error === null) released.push(found);
            callback(error ?? new Error('these tests connect nowhere'), '');
          }),
      });
    const agent = agentWith({
      allowPrivate: false,
      dial,
      resolve: () => Promise.resolve(addresses.map(v4)),
    });
    await expect(post('https://partner.example/', agent)).rejects.toMatchObject({
      reason: 'url_refused',
    });
    expect(released).toEqual([]);
  });

  test('refuses the next connection to a name that changed to a forbidden address', async () => {
    const port = await listening(
      createServer((_request, response) => {
        response.setHeader('connection', 'close');
        response.end();
      }),
    );
    const answers = [v4('127.0.0.1'), v4('169.254.169.254'), v4('127.0.0.1')];
    const agent = agentWith({ resolve: () => Promise.resolve(answers.splice(0, 1)) });
    const url = `http://partner.example:${port}/`;
    await expect(post(url, agent)).resolves.toMatchObject({ status: 200 });
    await expect(post(url, agent)).rejects.toMatchObject({ reason: 'url_refused' });
    await expect(post(url, agent)).resolves.toMatchObject({ status: 200 });
  });

  test('connects to the checked address without a second look-up', async () => {
    const port = await listening(createServer((_request, response) => response.end()));
    const resolve = jest
      .fn<Promise<ResolvedAddress[]>, [string]>()
      .mockResolvedValueOnce([v4('127.0.0.1')])
      .mockResolvedValue([v4('169.254.169.254')]);
    const agent = agentWith({ resolve });
    await expect(post(`http://partner.example:${port}/`, agent)).resolves.toBeDefined();
    expect(resolve.mock.calls).toEqual([['partner.example']]);
  });

  test('fails with dns when the resolver has no answer or throws', async () => {
    const none = agentWith({ resolve: () => Promise.resolve([]) });
    const broken = agentWith({ resolve: () => Promise.reject(new Error('broken')) });
    await expect(post('http://a.example/', none)).rejects.toMatchObject({ reason: 'dns' });
    await expect(post('http://a.example/', broken)).rejects.toMatchObject({ reason: 'dns' });
  });
});

describe('the peer', () => {
  test.each(['http', 'https'])(
    'over %s, sends no byte to a peer with another address, not even a handshake',
    async (scheme) => {
      let received_bytes = 0;
      let onClosed: () => void = () => undefined;
      const closed = new Promise<void>((resolve) => (onClosed = resolve));
      const port = await listening(
        createTcpServer((socket) => {
          socket.on('close', () => onClosed());
          socket.on('error', () => undefined);
          socket.on('data', (chunk) => (received_bytes += chunk.length));
        }),
      );
      // Simulates a network that has led the connection to this machine.
      const agent = {
        ...agentWith({
          allowPrivate: false,
          resolve: () => Promise.resolve([v4('93.184.216.34')]),
          dial: () => connect({ host: '127.0.0.1', port }),
        }),
        // Lets the http URL through to the connector, whose own setting is unchanged.
        allowPrivate: scheme === 'http',
      };
      await expect(post(`${scheme}://partner.example/`, agent)).rejects.toMatchObject({
        reason: 'url_refused',
      });
      await closed;
      expect(received_bytes).toBe(0);
    },
  );

  test('checks a host that is an address in the connector too', async () => {
    const dial = jest.fn(connect as (options: TcpNetConnectOpts) => Socket);
    const agent = { ...agentWith({ allowPrivate: false, dial }), allowPrivate: true };
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]']) {
      await expect(post(`http://${host}:8099/`, agent)).rejects.toMatchObject({
        reason: 'url_refused',
      });
    }
    expect(dial).not.toHaveBeenCalled();
  });
});

describe('connections', () => {
  test('are kept alive and reused for the same origin only', async () => {
    const ports = { a: new Set<number>(), b: new Set<number>() };
    const server = (seen: Set<number>) =>
      createServer((request, response) => {
        seen.add(request.socket.remotePort ?? 0);
        request.resume().on('end', () => response.end('ok'));
      });
    const a = await listening(server(ports.a));
    const b = await listening(server(ports.b));
    const resolve = jest.fn(() => Promise.resolve([v4('127.0.0.1')]));
    const agent = agentWith({ resolve });
    for (let i = 0; i < 5; i++) {
      await post(`http://a.example:${a}/`, agent);
      await post(`http://b.example:${b}/`, agent);
    }
    expect([ports.a.size, ports.b.size]).toEqual([1, 1]);
    expect(resolve).toHaveBeenCalledTimes(2);
    await post(`http://other.example:${a}/`, agent);
    expect(ports.a.size).toBe(2);
  });

  test('never exceed the limit per origin', async () => {
    let open_now = 0;
    let open_most = 0;
    const server = createServer((_request, response) => setTimeout(() => response.end(), 5));
    server.on('connection', (socket) => {
      open_most = Math.max(open_most, ++open_now);
      socket.on('close', () => open_now--);
    });
    const port = await listening(server);
    const agent = agentWith({ connectionsPerOrigin: 3 });
    await Promise.all(Array.from({ length: 30 }, () => post(`http://127.0.0.1:${port}/`, agent)));
    expect(open_most).toBe(3);
  });

  test('end after the requests in flight on close, at once on destroy', async () => {
    const port = await listening(
      createServer((_request, response) => setTimeout(() => response.end(), 30)),
    );
    const url = `http://127.0.0.1:${port}/`;
    const closing = agentWith();
    const delivered = post(url, closing);
    await closing.close();
    await expect(delivered).resolves.toMatchObject({ status: 200 });
    const destroying = agentWith();
    const broken = post(url, destroying);
    const outcome = expect(broken).rejects.toMatchObject({ reason: 'aborted' });
    await destroying.destroy();
    await outcome;
    await expect(post(url, destroying)).rejects.toMatchObject({ reason: 'aborted' });
  });
});
