// Endpoints with a destination: an address that is refused, and deliveries to a Kafka topic. The
// other types have their servers in `make test-destinations`.
import { startKafkaServer } from '../destinations/kafka-server';
import { describeDestination } from '../destinations/scenarios';
import { SECURE_START_LIMIT_MS } from '../testkit/secure-engines';
import { useMesh, usePartner } from './use-mesh';

describe('bad input', () => {
  const mesh = useMesh();
  const partner = usePartner(mesh, []);

  test('an address of a cloud’s metadata is refused by its field, without the credentials', async () => {
    const secret_access_key = 'hidden-of-the-partner';
    const queue_url = 'https://169.254.169.254/1/events';
    const destination = { type: 'sqs', queue_url, access_key_id: 'id', secret_access_key };
    const { status, body } = await partner.call('POST', '/webhook-endpoints', { destination });
    expect([status, body.error]).toMatchObject([
      400,
      { code: 'INVALID_FIELD', details: { field: 'destination.queue_url' } },
    ]);
    expect(JSON.stringify(body)).not.toContain(secret_access_key);
    expect((await partner.call('GET', '/webhook-endpoints')).body.endpoints).toEqual([]);
  });
});

describeDestination('Kafka', startKafkaServer, SECURE_START_LIMIT_MS);
