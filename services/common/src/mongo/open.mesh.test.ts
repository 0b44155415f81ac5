// A service that starts before its database, or loses all its connections.
import net from 'node:net';
import { eventually } from '../../../../test/testkit/eventually';
import { forward } from '../../../../test/testkit/forwarder';
import { freePort } from '../../../../deploy/local/src/ports';
import { createLogger } from '../telemetry';
import { openMongo } from '.';

test('connects to a database that starts later, after a failed attempt', async () => {
  const target = new URL(process.env['MONGO_URL'] as string);
  const url = new URL(target);
  url.port = String(await freePort());
  url.searchParams.set('directConnection', 'true');
  const settings = { MONGO_URL: url.href, MONGO_DATABASE_PREFIX: `late-${Date.now()}-` };
  const log = createLogger('test');
  const warn = jest.spyOn(log, 'warn');
  const database = openMongo(settings, 'test', log, {
    prepared: [{ key: { name: 1 } }],
  });
  const started = database.start(new AbortController().signal);
  // The first failed attempt.
  await eventually(() => warn.mock.calls.length > 0);
  const late = await forward(Number(url.port), target.host);
  await started;
  expect(await database.db.listCollections().toArray()).toMatchObject([{ name: 'prepared' }]);
  await database.check?.();
  await database.db.dropDatabase();
  await database.stop();
  await late.close();
});

test('finds the server again when connections close at the moment of a command', async () => {
  const connect = jest.spyOn(net, 'createConnection');
  const settings = {
    MONGO_URL: process.env['MONGO_URL'] as string,
    MONGO_DATABASE_PREFIX: `closing-${Date.now()}-`,
  };
  const database = openMongo(settings, 'a', createLogger('mongo-test'), {});
  await database.start(new AbortController().signal);
  for (const { value } of connect.mock.results) (value as net.Socket).destroy();
  // The command is written before the sockets report that they are closed; the driver then reconnects.
  expect(await database.db.collection('any').findOne({})).toBeNull();
  await database.check?.();
  await database.stop();
  connect.mockRestore();
});

test('background work connects at its first command, also after a failed attempt', async () => {
  const target = new URL(process.env['MONGO_URL'] as string);
  const port = await freePort();
  const settings = {
    MONGO_URL: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    MONGO_DATABASE_PREFIX: `background-${Date.now()}-`,
  };
  const database = openMongo(settings, 'a', createLogger('mongo-test'), {});
  const find = () => database.background.collection('any').findOne({});
  await expect(find()).rejects.toThrow('ECONNREFUSED');
  const late = await forward(port, target.host);
  expect(await find()).toBeNull();
  await database.stop();
  await late.close();
});
