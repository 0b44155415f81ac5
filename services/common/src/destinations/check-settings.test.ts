import {
  addressOf,
  changedSettings,
  checkSettings,
  credentialsToRepeat,
  DestinationError,
  isSecret,
  withoutSecrets,
} from './check-settings';
import { DESTINATION_TYPES, SETTINGS, type DestinationType } from './settings';

const PUBLIC = { allowPrivate: false };
const LOCAL = { allowPrivate: true };
const aws = { access_key_id: 'id', secret_access_key: 'hidden-1' };

const VALID: Record<DestinationType, Record<string, unknown>> = {
  kafka: { brokers: ['kafka.example.com:9093'], topic: 'events' },
  amqp: { host: 'mq.example.com', username: 'u', password: 'hidden-1', routing_key: 'events' },
  sqs: { queue_url: 'https://sqs.eu-central-1.amazonaws.com/1/events?a=b', ...aws },
  s3: { endpoint: 'https://s3.eu-central-1.amazonaws.com', bucket: 'events', ...aws },
};

/** Setting to mend, for each fault. */
const FAULTS: [type: DestinationType, change: Record<string, unknown>, setting: string][] = [
  ['kafka', { brokers: [] }, 'brokers'],
  ['kafka', { brokers: ['kafka.example.com'] }, 'brokers'],
  ['kafka', { brokers: ['user:hidden-1@kafka.example.com:9092'] }, 'brokers'],
  ['kafka', { brokers: Array(11).fill('kafka.example.com:9093') }, 'brokers'],
  ['kafka', { topic: 'a/b' }, 'topic'],
  ['kafka', { topic: undefined }, 'topic'],
  ['kafka', { mechanism: 'kerberos' }, 'mechanism'],
  ['kafka', { mechanism: 'plain', username: 'u' }, 'password'],
  ['kafka', { tls: false }, 'tls'],
  ['kafka', { ca: '' }, 'ca'],
  ['kafka', { hidden: 1 }, 'hidden'],
  ['amqp', { host: 'user@mq.example.com' }, 'host'],
  ['amqp', { port: 70_000 }, 'port'],
  ['amqp', { routing_key: 'x'.repeat(256) }, 'routing_key'],
  ['amqp', { password: 7 }, 'password'],
  ['amqp', { tls: false }, 'tls'],
  ['amqp', { vhost: '' }, 'vhost'],
  ['amqp', { exchange: 'x'.repeat(128) }, 'exchange'],
  ['sqs', { queue_url: 'events' }, 'queue_url'],
  ['sqs', { region: 'eu/central' }, 'region'],
  ['sqs', { access_key_id: '' }, 'access_key_id'],
  ['sqs', { secret_access_key: undefined }, 'secret_access_key'],
  ['s3', { endpoint: 'storage' }, 'endpoint'],
  ['s3', { bucket: 'Events' }, 'bucket'],
  ['s3', { prefix: 'a' }, 'prefix'],
  ['s3', { prefix: '../' }, 'prefix'],
  ['s3', { addressing: 'dns' }, 'addressing'],
];

const settingsOf = (type: DestinationType, change: Record<string, unknown>): object =>
  Object.fromEntries(
    Object.entries({ ...VALID[type], ...change }).filter(([, value]) => value !== undefined),
  );

test.each(FAULTS)('%s refuses %j and names %s', (type, change, setting) => {
  let refusal: unknown;
  try {
    checkSettings(type, settingsOf(type, change), PUBLIC);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(DestinationError);
  expect(refusal).toMatchObject({ setting });
  expect(String(refusal)).toMatch(new RegExp(`^DestinationError: ${setting} .+`));
  expect(String(refusal)).not.toContain('hidden-1');
});

test('all settings that are missing are named together', () => {
  expect(() => checkSettings('amqp', { host: 'mq.example.com' }, PUBLIC)).toThrow(
    expect.objectContaining({ missing: ['username', 'password', 'routing_key'] }),
  );
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

test('every type marks its credentials, and none is shown', () => {
  const secrets = DESTINATION_TYPES.map((type) => [
    type,
    Object.keys(SETTINGS[type].properties).filter((setting) => isSecret(type, setting)),
  ]);
  expect(Object.fromEntries(secrets)).toEqual({
    kafka: ['password'],
    amqp: ['password'],
    sqs: ['secret_access_key'],
    s3: ['secret_access_key'],
  });
  expect(withoutSecrets('sqs', VALID.sqs)).toEqual({
    queue_url: VALID.sqs['queue_url'],
    access_key_id: 'id',
  });
});

test.each<[type: DestinationType, change: object, repeat: string[]]>([
  ['kafka', { brokers: ['other.example.com:9093'] }, ['password']],
  ['amqp', { host: 'other.example.com' }, ['password']],
  ['sqs', { queue_url: 'https://other.example.com/1/events' }, ['secret_access_key']],
  ['sqs', { region: 'eu-west-1' }, []],
  ['s3', { endpoint: 'https://other.example.com' }, ['secret_access_key']],
  ['s3', { endpoint: 'https://other.example.com', secret_access_key: 'hidden-2' }, []],
  ['s3', { addressing: 'host' }, ['secret_access_key']],
  ['s3', { prefix: 'b/' }, []],
])('a change of %s to %j needs the credentials %j again', (type, change, repeat) => {
  const before = { ...VALID[type], ...(type === 'kafka' && { password: 'hidden-1' }) };
  const after = changedSettings(before, change);
  expect(credentialsToRepeat(type, { before, change, after })).toEqual(repeat);
});

test.each<[DestinationType, string]>([
  ['kafka', 'kafka://kafka.example.com:9093/events'],
  ['amqp', 'amqps://mq.example.com/events'],
  ['sqs', 'https://sqs.eu-central-1.amazonaws.com/1/events'],
  ['s3', 'https://s3.eu-central-1.amazonaws.com/events/'],
])('the address of %s is %s', (type, address) => {
  expect(addressOf(type, checkSettings(type, VALID[type], PUBLIC))).toBe(address);
});
