// A service that is there before its database.
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { createLogger } from '../telemetry';
import { openMongo } from '.';

/** Longer than one attempt to find the server takes. */
const LATE_MS = 4_500;

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve) =>
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

test('a database that comes later is found, however many attempts failed before', async () => {
  const target = new URL(process.env['MONGO_URL'] as string);
  // A port that nobody listens on until later; then what comes in is handed on to the real one.
  const holder = createServer();
  const port = await listen(holder, 0);
  await new Promise((resolve) => holder.close(resolve));
  const late = createServer((from) => {
    const to = connect(Number(target.port), target.hostname);
    from.pipe(to).pipe(from);
    for (const socket of [from, to])
      socket.on('error', () => [from, to].map((one) => one.destroy()));
  });

  const url = new URL(target);
  url.port = String(port);
  url.searchParams.set('directConnection', 'true');
  const prefix = `late-${Date.now()}-`;
  const settings = { MONGO_URL: url.href, MONGO_DATABASE_PREFIX: prefix };
  const database = openMongo(settings, 'test', createLogger('test'), async (db) => {
    await db.createCollection('prepared');
  });
  const abort = new AbortController();
  const started = database.start(abort.signal);
  await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  await listen(late, port);
  await started;
  expect(await database.db.listCollections().toArray()).toMatchObject([{ name: 'prepared' }]);
  await database.check?.();
  await database.db.dropDatabase();
  await database.stop();
  await new Promise((resolve) => late.close(resolve));
}, 60_000);
