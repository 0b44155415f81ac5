import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../testkit/eventually';
import { startLink, type Link } from './links';

let echo: Server;
let link: Link;
let client: Socket;
let got: string;

beforeEach(async () => {
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  link = await startLink((echo.address() as AddressInfo).port);
  client = connect(link.port, '127.0.0.1');
  client.on('error', () => undefined);
  got = '';
  client.on('data', (chunk) => (got += String(chunk)));
  await once(client, 'connect');
});

/** Unlike `once`, it takes no error for its own. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()));

afterEach(async () => {
  client.destroy();
  await link.close();
  await new Promise((resolve) => echo.close(resolve));
});

test('forwards both ways, and ends when one side ends', async () => {
  client.write('hello');
  await eventually(() => got === 'hello');
  client.end();
  await closed(client);
});

test('delays each direction', async () => {
  link.set({ kind: 'delay', delay_ms: 100 });
  const started = performance.now();
  client.write('late');
  await eventually(() => got === 'late');
  expect(performance.now() - started).toBeGreaterThan(190);
});

test('throttles', async () => {
  link.set({ kind: 'throttle', bytes_per_sec: 10_000 });
  const started = performance.now();
  client.write('x'.repeat(2_000));
  await eventually(() => got.length === 2_000);
  expect(performance.now() - started).toBeGreaterThan(380);
});

test('a black hole holds the bytes until it ends', async () => {
  link.set({ kind: 'black_hole' });
  client.write('held');
  // Longer than the bytes take without a fault.
  await sleep(200);
  expect(got).toBe('');
  link.set(undefined);
  await eventually(() => got === 'held');
});

test('resets open connections, and new ones', async () => {
  const reset = closed(client);
  link.set({ kind: 'reset' });
  await reset;
  const next = connect(link.port, '127.0.0.1');
  next.on('error', () => undefined);
  await closed(next);
});
