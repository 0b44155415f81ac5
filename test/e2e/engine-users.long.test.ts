// The mesh on engines that accept only TLS, where each process has a user of its own with the
// rights that deploy/ENGINE-USERS.md lists, and no others.
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import { createBusOperator, type LetterPlace } from '@bmg/common/bus';
import { KAFKA_USERS, OPERATOR, PROCESSES, userOf } from '../../deploy/engine-users/src/access';
import { kafkaGrants, redisUser } from '../../deploy/engine-users/src/grants';
import { ONE, startMesh, type Mesh, type TestPartner } from '../harness/mesh';
import { eventually } from '../testkit/eventually';
import { allowUsers } from '../testkit/kafka-users';
import {
  SECURE_START_LIMIT_MS,
  startSecureKafka,
  startSecureRedis,
  type SecureEngine,
  type SecureKafka,
} from '../testkit/secure-engines';
import { createBroadcast, scopeOf, untilCompleted } from './broadcast-support';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';

const LIMIT_MS = 300_000;
const PASSWORD = randomBytes(12).toString('hex');
const PREFIX = `acl${randomBytes(3).toString('hex')}.`;

let kafka: SecureKafka;
let redis: SecureEngine;
let admin: Redis;
let mesh: Mesh;
let partner: TestPartner;

beforeAll(async () => {
  const scram = Object.fromEntries(KAFKA_USERS.map((name) => [userOf(name), PASSWORD]));
  kafka = await startSecureKafka({ scram, acls: true });
  await allowUsers(
    kafka.admin,
    KAFKA_USERS.flatMap((name) =>
      kafkaGrants(name, PREFIX).map((grant) => ({ user: userOf(name), ...grant })),
    ),
  );
  redis = await startSecureRedis([
    ...PROCESSES.map((name) => redisUser(name, PASSWORD)),
    `admin on >${PASSWORD} ~* &* +@all`,
  ]);
  const address = `127.0.0.1:${redis.port}`;
  admin = new Redis(`rediss://admin:${PASSWORD}@${address}`, {
    tls: { rejectUnauthorized: false },
  });
  mesh = await startMesh(
    {
      REDIS_KEY_PREFIX: '',
      REDIS_TLS_CA_FILE: redis.ca_file,
      KAFKA_BROKERS: `127.0.0.1:${kafka.port}`,
      KAFKA_TOPIC_PREFIX: PREFIX,
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA_FILE: kafka.ca_file,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_PASSWORD: PASSWORD,
    },
    {
      // The sender of events to partners' own servers reaches no engine.
      envOf: (name) =>
        name === 'destinations'
          ? {}
          : {
              KAFKA_SASL_USERNAME: userOf(name),
              REDIS_URL: `rediss://${userOf(name)}:${PASSWORD}@${address}`,
            },
    },
  );
  partner = await mesh.createPartner();
  await partner.register(ONE);
}, SECURE_START_LIMIT_MS + LIMIT_MS);

afterAll(async () => {
  await mesh?.stop();
  admin?.disconnect();
  await Promise.all([kafka?.stop(), redis?.stop()]);
});

/** A producer as the user of templates. */
async function templatesProducer(): Promise<Producer> {
  const client = new Kafka({
    brokers: [`127.0.0.1:${kafka.port}`],
    ssl: { rejectUnauthorized: false },
    sasl: { mechanism: 'scram-sha-512', username: 'bmg-templates', password: PASSWORD },
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
  });
  const producer = client.producer();
  await producer.connect();
  return producer;
}

test('everything works with them, and no process needs more', async () => {
  const text = { to: '15550100777', text: 'Hello' };
  const headers = { ...scopeOf(ONE), 'idempotency-key': 'k1' };
  const first = await partner.call('POST', '/messages/send', text, headers);
  const again = await partner.call('POST', '/messages/send', text, headers);
  expect([first.status, again.body.message_id]).toEqual([200, first.body.message_id]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const inbound = inboundBody(ONE, { from: '15550100777', id: 'wamid.ACL.1' });
  expect(await postRaw(mesh.ingress_url, inbound)).toBe(200);
  const contacts = ['15550100778', '15550100779'];
  const broadcast = await createBroadcast(partner, ONE, contacts);
  const { receiver } = partner;
  await eventually(
    () => receiver.of('message.received').length > 0 && receiver.of('message.read').length > 0,
  );
  const { sent } = await untilCompleted(partner, broadcast, 60_000);
  expect(sent).toBe(contacts.length);
  expect((await partner.call('POST', '/webhooks/retry-all')).status).toBe(200);
  await eventually(async () => {
    const { body } = await partner.call('GET', '/usage');
    return body.endpoints.length > 0;
  });
  expect((await partner.call('GET', '/health')).body.status).toBe('ok');
  const refused = (await admin.call('ACL', 'LOG')) as unknown[];
  expect(refused).toEqual([]);
});

test('a process may not read the data of others', async () => {
  const own = new Redis(`rediss://bmg-templates:${PASSWORD}@127.0.0.1:${redis.port}`, {
    tls: { rejectUnauthorized: false },
  });
  await expect(own.get('bmg:seen:x')).rejects.toThrow(/NOPERM/);
  await expect(own.keys('*')).rejects.toThrow(/NOPERM/);
  own.disconnect();
  const producer = await templatesProducer();
  const record = { topic: `${PREFIX}delivery.v1`, messages: [{ value: 'x' }] };
  await expect(producer.send(record)).rejects.toThrow(/authorized/i);
  await producer.disconnect();
});

test('the operator’s user sees the lag of each group, and publishes dead letters again', async () => {
  const bus = createBusOperator({
    KAFKA_BROKERS: `127.0.0.1:${kafka.port}`,
    KAFKA_TOPIC_PREFIX: PREFIX,
    KAFKA_REPLICATION: 1,
    KAFKA_TLS: true,
    KAFKA_TLS_CA_FILE: kafka.ca_file,
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: userOf(OPERATOR),
    KAFKA_SASL_PASSWORD: PASSWORD,
  });
  const groups = (await bus.lags()).map(({ group }) => group);
  expect(groups).toEqual(
    expect.arrayContaining(['webhooks', 'fanout-webhook', 'onboarding-status']),
  );
  const producer = await templatesProducer();
  const headers = { reason: 'undecodable', failed_at: new Date().toISOString() };
  const messages = [{ value: 'not a message', headers }];
  await producer.send({ topic: `${PREFIX}template.v1.dlq`, messages });
  await producer.disconnect();
  const [letter] = await bus.deadLetters(10);
  expect(letter).toMatchObject({ topic: 'template.v1', reason: 'undecodable' });
  expect(await bus.replay(letter as LetterPlace)).toBe(true);
  // Its two readers cannot decode it either.
  await eventually(async () => (await bus.deadLetters(10)).length === 3);
});
