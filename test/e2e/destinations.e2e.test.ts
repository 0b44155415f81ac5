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
  sqs: { queue_url: 'http://127.0.0.1:9/1/events', ...aws },
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
    ['sqs', { queue_url: 'https://169.254.169.254/1/events' }, 'queue_url'],
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
    ['a URL beside it', { url: 'https://example.com/' }, 'destination'],
  ])('%s', async (_name, change, field) => {
    const body = { destination: { type: 'kafka', ...VALID['kafka'] }, ...change };
    const answer = await partner.call('POST', '/webhook-endpoints', body);
    const { details } = answer.body.error;
    expect([answer.status, details.field ?? details.fields]).toEqual([400, field]);
    expect((await partner.call('GET', '/webhook-endpoints')).body.endpoints).toEqual([]);
  });
});

describeDestination('Kafka', startKafkaServer, SECURE_START_LIMIT_MS);
