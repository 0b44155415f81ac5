// A service that starts before its database, or loses all its connections.
import net from 'node:net';
import { eventually } from '../../../../test/testkit/eventually';
import { forward } from '../../../../test/testkit/forwarder';
import { freePort } from '../../../../deploy/local/src/ports';
import { createLogger } from '../telemetry';
import { openMongo, type Indexes } from '.';

const MONGO_URL = process.env['MONGO_URL'] as string;
const target = new URL(MONGO_URL);
const log = createLogger('test');
const open = (url: string, indexes: Indexes = {}) =>
  openMongo({ MONGO_URL: url, MONGO_DATABASE_PREFIX: `open-${Date.now()}-` }, 'a', log, indexes);
const urlAt = (port: number): string => `mongodb://127.0.0.1:${port}/?directConnection=true`;

test('connects to a database that starts later, after a failed attempt', async () => {
  const port = await freePort();
  const warn = jest.spyOn(log, 'warn');
  const database = open(urlAt(port), { prepared: [{ key: { name: 1 } }] });
  const started = database.start(new AbortController().signal);
  // The first failed attempt.
  await eventually(() => warn.mock.calls.length > 0);
  const late = await forward(port, target.host);
  await started;
  expect(await database.db.listCollections().toArray()).toMatchObject([{ name: 'prepared' }]);
  await database.check?.();
  await database.db.dropDatabase();
  await database.stop();
  await late.close();
});

test('finds the server again when connections close at the moment of a command', async () => {
  const connect = jest.spyOn(net, 'createConnection');
  const database = open(MONGO_URL);
  await database.start(new AbortController().signal);
  for (const { value } of connect.mock.results) (value as net.Socket).destroy();
  // The command is written before the sockets report that they are closed; the driver then reconnects.
  expect(await database.db.collection('any').findOne({})).toBeNull();
  await database.check?.();
  await database.stop();
  connect.mockRestore();
});

test('background work connects at its first command, also after a failed attempt', async () => {
  const port = await freePort();
  const database = open(urlAt(port));
  const find = () => database.background.collection('any').findOne({});
  await expect(find()).rejects.toThrow('ECONNREFUSED');
  const late = await forward(port, target.host);
  expect(await find()).toBeNull();
  await database.stop();
  await late.close();
});
