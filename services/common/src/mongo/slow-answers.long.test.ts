// A database whose answers take longer than a request waits, behind a proxy that delays them.
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { toApiError } from '../errors';
import { createLogger } from '../telemetry';
import { openMongo, type Database } from '.';

const SLOW = 'slow_letters';
const DELAY_MS = 11_000;

let proxy: Server;
let database: Database;
/** Commands on the collection with slow answers. */
const commands: string[] = [];

beforeAll(async () => {
  const target = new URL(process.env['MONGO_URL'] as string);
  proxy = createServer((from) => {
    const to = connect(Number(target.port), target.hostname);
    let delay_ms = 0;
    from.on('data', (bytes) => {
      if (bytes.includes(SLOW)) {
        delay_ms = DELAY_MS;
        commands.push(bytes.toString('latin1'));
      }
      to.write(bytes);
    });
    to.on('data', (bytes) => void setTimeout(() => from.write(bytes), delay_ms));
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  const settings = {
    MONGO_URL: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    MONGO_DATABASE_PREFIX: `slow-${Date.now()}-`,
  };
  database = openMongo(settings, 'test', createLogger('test'), { letters: [{ key: { a: 1 } }] });
  await database.start(new AbortController().signal);
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database.stop();
  proxy.close();
});

test('background work waits for an answer that interactive work gives up', async () => {
  const started = performance.now();
  const read = database.db.collection(SLOW).findOne({});
  const interactive = read.catch((error: unknown) => ({
    error: toApiError(error, { repeatable: true }),
    ms: performance.now() - started,
  }));
  await expect(database.background.collection(SLOW).countDocuments()).resolves.toBe(0);
  const { error, ms } = (await interactive) as { error: Error; ms: number };
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', http: 503, retryable: true });
  // The driver has not repeated the read.
  expect(ms).toBeLessThan(DELAY_MS);
  expect(commands).toHaveLength(2);
  expect(commands.every((command) => command.includes('maxTimeMS'))).toBe(true);
}, 20_000);
