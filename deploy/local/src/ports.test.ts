import { createServer, type AddressInfo } from 'node:net';
import { freePort, isFree, parsePort, requireFree } from './ports';

const listen = async (port = 0, host = '127.0.0.1') => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};

test('a port with a listener on loopback or on all addresses is not free', async () => {
  const port = await freePort();
  expect(await isFree(port)).toBe(true);
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const server = await listen(port, host);
    expect(await isFree(port)).toBe(false);
    await server.close();
  }
  expect(await isFree(port)).toBe(true);
});

test('reports each taken port on its own line, with the setting that changes it', async () => {
  const [a, b] = [await listen(), await listen()];
  const free = await freePort();
  await expect(
    requireFree([
      { name: 'gateway', port: a.port, setting: 'GATEWAY_PORT' },
      { name: 'fanout', port: free, setting: 'FANOUT_METRICS_PORT' },
      { name: 'webhooks', port: b.port, setting: 'INGRESS_PORT' },
    ]),
  ).rejects.toThrow(
    `port ${a.port} (gateway) is taken by another program: stop it, or set GATEWAY_PORT\n` +
      `port ${b.port} (webhooks) is taken by another program: stop it, or set INGRESS_PORT`,
  );
  await Promise.all([a.close(), b.close()]);
});

test('waits for a port that is just being released', async () => {
  const server = await listen();
  setTimeout(() => void server.close(), 200);
  const freed = requireFree([{ name: 'mongo', port: server.port, setting: 'MONGO_PORT' }]);
  await expect(freed).resolves.toBeUndefined();
});

test('refuses a value that is not a port, and names its setting', () => {
  expect(parsePort('GATEWAY_PORT', '8080')).toBe(8080);
  for (const text of ['0', '65536', '80a', '-1', 'tcp://10.0.0.1:80']) {
    expect(() => parsePort('GATEWAY_PORT', text)).toThrow(
      `GATEWAY_PORT must be a port number, not ${text}`,
    );
  }
});
