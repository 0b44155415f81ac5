import { DestinationError } from './destination';
import { checkSettings, KINDS, openDestination, secretSettings, type KindName } from './kinds';

const PUBLIC = { allowPrivate: false };
const LOCAL = { allowPrivate: true };
const aws = { access_key_id: 'id', secret_access_key: 'hidden-1' };

const VALID: Record<KindName, Record<string, unknown>> = {
  kafka: { brokers: ['kafka.example.com:9093'], topic: 'events' },
  amqp: { host: 'mq.example.com', username: 'u', password: 'hidden-1', routing_key: 'events' },
  sqs: { queue_url: 'https://sqs.eu-central-1.amazonaws.com/1/events', ...aws },
  s3: { endpoint: 'https://s3.eu-central-1.amazonaws.com', bucket: 'events', ...aws },
};

/** Setting to mend, for each fault. */
const FAULTS: [kind: KindName, change: Record<string, unknown>, setting: string][] = [
  ['kafka', { brokers: [] }, 'brokers'],
  ['kafka', { brokers: ['kafka.example.com'] }, 'brokers'],
  ['kafka', { brokers: ['user:hidden-1@kafka.example.com:9092'] }, 'brokers'],
  ['kafka', { brokers: Array(11).fill('kafka.example.com:9093') }, 'brokers'],
  ['kafka', { topic: 'a/b' }, 'topic'],
  ['kafka', { topic: undefined }, 'topic'],
  ['kafka', { mechanism: 'kerberos' }, 'mechanism'],
  ['kafka', { mechanism: 'plain', username: 'u' }, 'password'],
  ['kafka', { tls: false }, 'tls'],
  ['kafka', { hidden: 1 }, 'hidden'],
  ['amqp', { host: 'user@mq.example.com' }, 'host'],
  ['amqp', { port: 70_000 }, 'port'],
  ['amqp', { routing_key: 'x'.repeat(256) }, 'routing_key'],
  ['amqp', { password: 7 }, 'password'],
  ['amqp', { tls: false }, 'tls'],
  ['sqs', { queue_url: 'events' }, 'queue_url'],
  ['sqs', { queue_url: 'http://sqs.example.com/1/events' }, 'queue_url'],
  ['sqs', { queue_url: 'https://169.254.169.254/1/events' }, 'queue_url'],
  ['sqs', { region: 'eu/central' }, 'region'],
  ['s3', { endpoint: 'https://10.0.0.1' }, 'endpoint'],
  ['s3', { endpoint: 'https://user:hidden-1@s3.example.com' }, 'endpoint'],
  ['s3', { bucket: 'Events' }, 'bucket'],
  ['s3', { prefix: 'a' }, 'prefix'],
  ['s3', { prefix: '../' }, 'prefix'],
  ['s3', { addressing: 'dns' }, 'addressing'],
];

const open = (kind: KindName, change: Record<string, unknown> = {}) => {
  const settings = Object.entries({ ...VALID[kind], ...change }).filter(
    ([, value]) => value !== undefined,
  );
  return openDestination(kind, Object.fromEntries(settings), PUBLIC);
};

test.each(Object.keys(VALID) as KindName[])('%s opens without a connection', async (kind) => {
  const destination = await open(kind);
  await destination.close();
});

test.each(FAULTS)('%s refuses %j and names %s', async (kind, change, setting) => {
  const refusal = await open(kind, change).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(DestinationError);
  expect(refusal).toMatchObject({ setting });
  expect(String(refusal)).toMatch(new RegExp(`^DestinationError: ${setting} .+`));
  expect(String(refusal)).not.toContain('hidden-1');
});

test('settings keep their values, and get the defaults', () => {
  const given = { ...VALID.s3 };
  expect(checkSettings('s3', given, PUBLIC)).toEqual({
    ...given,
    region: 'us-east-1',
    prefix: '',
    addressing: 'path',
  });
  expect(given).toEqual(VALID.s3);
});

test('connections without TLS are for local work only', () => {
  const plain = { ...VALID.amqp, tls: false };
  expect(checkSettings('amqp', plain, LOCAL)).toMatchObject({ tls: false });
});

test('every kind marks its secrets', () => {
  const names = Object.keys(KINDS) as KindName[];
  expect(Object.fromEntries(names.map((name) => [name, secretSettings(name)]))).toEqual({
    kafka: ['password'],
    amqp: ['password'],
    sqs: ['secret_access_key'],
    s3: ['secret_access_key'],
  });
});
