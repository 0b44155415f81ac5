import {
  DESTINATION_TYPES,
  DestinationError,
  type DestinationType,
} from '@bmg/common/destinations';
import { openDestination } from './kinds';

const aws = { access_key_id: 'id', secret_access_key: 'hidden-1' };
const VALID: Record<DestinationType, object> = {
  kafka: { brokers: ['kafka.example.com:9093'], topic: 'events' },
  amqp: { host: 'mq.example.com', username: 'u', password: 'hidden-1', routing_key: 'events' },
  sqs: { queue_url: 'https://sqs.eu-central-1.amazonaws.com/1/events', ...aws },
  s3: { endpoint: 'https://s3.eu-central-1.amazonaws.com', bucket: 'events', ...aws },
};

const open = (type: DestinationType, change: object = {}) =>
  openDestination(type, { ...VALID[type], ...change }, { allowPrivate: false });

test.each(DESTINATION_TYPES)('%s opens without a connection', async (type) => {
  const looked_up: string[] = [];
  const resolve = async (host: string) => {
    looked_up.push(host);
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  const destination = await openDestination(type, VALID[type], { allowPrivate: false, resolve });
  await destination.close();
  expect(looked_up).toEqual([]);
  // This guard sees the first connection.
  const checked = await openDestination(type, VALID[type], { allowPrivate: false, resolve });
  await expect(checked.check()).rejects.toThrow(DestinationError);
  await checked.close();
  expect(looked_up.length).toBeGreaterThan(0);
});

test.each<[type: DestinationType, change: object, setting: string]>([
  ['kafka', { topic: 'a/b' }, 'topic'],
  ['sqs', { queue_url: 'http://sqs.example.com/1/events' }, 'queue_url'],
  ['sqs', { queue_url: 'https://169.254.169.254/1/events' }, 'queue_url'],
  ['s3', { endpoint: 'https://10.0.0.1' }, 'endpoint'],
  ['s3', { endpoint: 'https://user:hidden-1@s3.example.com' }, 'endpoint'],
])('%s refuses %j and names %s', async (type, change, setting) => {
  const refusal = await open(type, change).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(DestinationError);
  expect(refusal).toMatchObject({ setting });
  expect(String(refusal)).toMatch(new RegExp(`^DestinationError: ${setting} .+`));
  expect(String(refusal)).not.toContain('hidden-1');
});
