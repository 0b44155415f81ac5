// A server of MongoDB's protocol that accepts only TLS and known users: a service's user stores and reads
// there. A wrong password or an unknown authority is refused.
import { MongoClient } from 'mongodb';
import { createLogger } from '../telemetry';
import { ferretDb } from '../../../../test/helm/tools';
import { eventually } from '../../../../test/testkit/eventually';
import {
  SECURE_START_LIMIT_MS,
  startSecureMongo,
  type SecureEngine,
} from '../../../../test/testkit/secure-engines';
import { openMongo, type Database, type MongoSettings } from './open';

const BUILD_LIMIT_MS = 20 * 60_000;
/** Longer than an attempt to connect takes. */
const REFUSAL_LIMIT_MS = 10_000;
const ADMIN = { username: 'admin', password: 'admin-password' };
const USER = { user: 'bmg-webhooks', pwd: 'user-password' };
const log = createLogger('test');
log.level = 'silent';

const program = ferretDb();
let mongo: SecureEngine;
const opened: Database[] = [];

const urlOf = (user: string, password: string): string =>
  `mongodb://${user}:${password}@127.0.0.1:${mongo.port}/?tls=true&authSource=admin`;

beforeAll(async () => {
  if (!program) return;
  mongo = await startSecureMongo(program, ADMIN);
  await eventually(async () => {
    const client = new MongoClient(urlOf(ADMIN.username, ADMIN.password), {
      tlsCAFile: mongo.ca_file,
      serverSelectionTimeoutMS: 2_000,
    });
    try {
      await client.db('admin').command({ createUser: USER.user, pwd: USER.pwd, roles: [] });
      return true;
    } finally {
      await client.close();
    }
  }, SECURE_START_LIMIT_MS);
}, BUILD_LIMIT_MS);
afterAll(async () => {
  await Promise.all(opened.map((database) => database.stop()));
  await mongo?.stop();
});

const whereBuilt = program ? test : test.skip;

const open = (changed: Partial<MongoSettings> = {}): Database => {
  const settings = {
    MONGO_URL: urlOf(USER.user, USER.pwd),
    MONGO_TLS_CA_FILE: mongo.ca_file,
    MONGO_DATABASE_PREFIX: '',
    ...changed,
  };
  const database = openMongo(settings, 'webhooks', log, {});
  opened.push(database);
  return database;
};

whereBuilt('a service stores and reads over TLS, as a user of its own', async () => {
  const database = open();
  await database.start(new AbortController().signal);
  await database.check?.();
  const things = database.db.collection<{ _id: string; value: number }>('things');
  await things.insertOne({ _id: 'a', value: 1 });
  expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', value: 1 });
});

whereBuilt.each<[string, () => Partial<MongoSettings>]>([
  ['a wrong password', () => ({ MONGO_URL: urlOf(USER.user, 'wrong') })],
  ['an unknown user', () => ({ MONGO_URL: urlOf('stranger', USER.pwd) })],
  ['an unknown authority', () => ({ MONGO_TLS_CA_FILE: undefined })],
  [
    'no TLS',
    () => ({
      MONGO_URL: urlOf(USER.user, USER.pwd).replace('tls=true&', ''),
      MONGO_TLS_CA_FILE: undefined,
    }),
  ],
])(
  'with %s it does not connect',
  async (_name, changed) => {
    const started = open(changed()).start(AbortSignal.timeout(REFUSAL_LIMIT_MS));
    await expect(started).rejects.toThrow();
  },
  60_000,
);
