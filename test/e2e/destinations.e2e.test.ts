// Endpoints with a destination: bad settings of every type, and deliveries to a Kafka topic. The
// other types have their servers in `make test-destinations`.
import { joinMesh, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { startKafkaServer } from '../destinations/kafka-server';
import { describeDestination } from '../destinations/scenarios';
import { SECURE_START_LIMIT_MS } from '../testkit/secure-engines';

const HIDDEN = 'hidden-of-the-partner';
const aws = { access_key_id: 'id', secret_access_key: HIDDEN };
const VALID: Record<string, object> = {
  kafka: { brokers: ['127.0.0.1:9'], topic: 'events' },
  amqp: { host: 'localhost', username: 'u', password: HIDDEN, routing_key: 'events' },
  sqs: { queue_url: 'http://127.0.0.1:9/1/events', ...aws },
  s3: { endpoint: 'http://127.0.0.1:9', bucket: 'events', ...aws },
};

const MISSING = {
  kafka: ['destination.username', 'destination.password'],
  sqs: ['destination.queue_url'],
  s3: ['endpoint', 'bucket', 'access_key_id', 'secret_access_key'].map(
    (setting) => `destination.${setting}`,
  ),
};

describe('bad input is named and changes nothing', () => {
  let mesh: Mesh;
  let partner: TestPartner;
  beforeAll(async () => {
    mesh = await joinMesh();
    partner = await mesh.createPartner();
  });
  afterAll(() => mesh?.stop());

  test.each<[type: string, change: object, field: string]>([
    ['kafka', { brokers: [] }, 'brokers'],
    ['kafka', { brokers: 'kafka.example.com:9092' }, 'brokers'],
    ['kafka', { brokers: ['kafka.example.com'] }, 'brokers[0]'],
    ['kafka', { brokers: Array(11).fill('kafka.example.com:9092') }, 'brokers'],
    ['kafka', { topic: 'a/b' }, 'topic'],
    ['kafka', { tls: 'yes' }, 'tls'],
    ['kafka', { ca: '' }, 'ca'],
    ['kafka', { mechanism: 'kerberos' }, 'mechanism'],
    ['kafka', { bucket: 'events' }, 'bucket'],
    ['kafka', { unknown: HIDDEN }, 'unknown'],
    ['amqp', { host: 'user@mq.example.com' }, 'host'],
    ['amqp', { port: 70_000 }, 'port'],
    ['amqp', { vhost: '' }, 'vhost'],
    ['amqp', { username: 7 }, 'username'],
    ['amqp', { password: { text: HIDDEN } }, 'password'],
    ['amqp', { exchange: 'x'.repeat(128) }, 'exchange'],
    ['amqp', { routing_key: 'x'.repeat(256) }, 'routing_key'],
    ['sqs', { queue_url: 'events' }, 'queue_url'],
    ['sqs', { queue_url: 'https://169.254.169.254/1/events' }, 'queue_url'],
    ['sqs', { region: 'eu/central' }, 'region'],
    ['sqs', { access_key_id: '' }, 'access_key_id'],
    ['s3', { endpoint: 'https://user:secret@s3.example.com' }, 'endpoint'],
    ['s3', { bucket: 'Events' }, 'bucket'],
    ['s3', { prefix: '../' }, 'prefix'],
    ['s3', { addressing: 'dns' }, 'addressing'],
    ['nats', {}, 'type'],
  ])('%s with %j', async (type, change, field) => {
    const destination = { type, ...VALID[type], ...change };
    const { status, body } = await partner.call('POST', '/webhook-endpoints', { destination });
    expect([status, body.error.code, body.error.details.field]).toEqual([
      400,
      'INVALID_FIELD',
      `destination.${field}`,
    ]);
    expect(JSON.stringify(body)).not.toContain(HIDDEN);
    expect((await partner.call('GET', '/webhook-endpoints')).body.endpoints).toEqual([]);
  });

  test.each<[string, object, string | string[]]>([
    ['no type', { destination: VALID['kafka'] }, ['destination.type']],
    ['no settings', { destination: { type: 's3' } }, MISSING.s3],
    ['a null', { destination: { type: 'sqs', ...VALID['sqs'], queue_url: null } }, MISSING.sqs],
    [
      'a mechanism without a user',
      { destination: { type: 'kafka', ...VALID['kafka'], mechanism: 'plain' } },
      MISSING.kafka,
    ],
    ['a URL beside it', { url: 'https://example.com/' }, 'destination'],
    ['headers', { headers: { 'x-token': HIDDEN } }, 'headers'],
    ['no object', { destination: 'kafka' }, 'destination'],
  ])('%s', async (_name, change, field) => {
    const body = { destination: { type: 'kafka', ...VALID['kafka'] }, ...change };
    const answer = await partner.call('POST', '/webhook-endpoints', body);
    const { details } = answer.body.error;
    expect([answer.status, details.field ?? details.fields]).toEqual([400, field]);
    expect((await partner.call('GET', '/webhook-endpoints')).body.endpoints).toEqual([]);
  });
});

describeDestination('Kafka', startKafkaServer, SECURE_START_LIMIT_MS);
