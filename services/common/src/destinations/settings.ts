// The settings of each type of destination, as JSON Schema: a partner's Kafka topic, AMQP exchange, SQS
// queue or S3 bucket. Descriptions are sentences: the reference prints them.

const SASL = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

export interface KafkaSettings {
  brokers: string[];
  topic: string;
  tls: boolean;
  ca?: string;
  mechanism: 'none' | (typeof SASL)[number];
  username?: string;
  password?: string;
}

export interface AmqpSettings {
  host: string;
  port?: number;
  tls: boolean;
  ca?: string;
  vhost: string;
  username: string;
  password: string;
  exchange: string;
  routing_key: string;
}

/** What SQS and S3 share. */
export interface AwsSettings {
  region: string;
  access_key_id: string;
  secret_access_key: string;
}

export interface SqsSettings extends AwsSettings {
  queue_url: string;
}

export interface S3Settings extends AwsSettings {
  endpoint: string;
  bucket: string;
  prefix: string;
  addressing: 'path' | 'host';
}

export interface SettingsOf {
  kafka: KafkaSettings;
  amqp: AmqpSettings;
  sqs: SqsSettings;
  s3: S3Settings;
}

export type DestinationType = keyof SettingsOf;

export interface SettingSchema {
  type: 'string' | 'integer' | 'boolean' | 'array';
  description: string;
  /** A credential: it is stored encrypted, and no answer has it. */
  writeOnly?: true;
  default?: string | boolean;
  enum?: readonly string[];
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: object;
}

interface SettingsSchema<S> {
  type: 'object';
  additionalProperties: false;
  required: readonly (keyof S & string)[];
  properties: { readonly [K in keyof Required<S>]: SettingSchema };
  if?: object;
  then?: object;
}

const URL_MAX = 2_048;
const CERTIFICATES_MAX = 65_536;
const CREDENTIAL_MAX = 1_024;

const text = (
  description: string,
  maxLength: number,
  { minLength = 1, ...more }: Partial<SettingSchema> = {},
): SettingSchema => ({
  type: 'string',
  ...(minLength > 0 && { minLength }),
  maxLength,
  ...more,
  description,
});

const pattern = (description: string, pattern: string, fallback?: string): SettingSchema => ({
  type: 'string',
  pattern,
  ...(fallback !== undefined && { default: fallback }),
  description,
});

const choice = (description: string, values: readonly [string, ...string[]]): SettingSchema => ({
  type: 'string',
  enum: values,
  default: values[0],
  description,
});

const credential = (description: string): SettingSchema =>
  text(`${description} It is stored encrypted and never shown again.`, CREDENTIAL_MAX, {
    writeOnly: true,
  });

const schema = <S>(
  required: SettingsSchema<S>['required'],
  properties: SettingsSchema<S>['properties'],
  rule: Pick<SettingsSchema<S>, 'if' | 'then'> = {},
): SettingsSchema<S> => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
  ...rule,
});

const tls: SettingSchema = {
  type: 'boolean',
  default: true,
  description: 'Whether the connection is encrypted; it must be. Defaults to true.',
};
const ca = text(
  'Certificate authority of the servers in PEM, unless it is a public one.',
  CERTIFICATES_MAX,
);
const password = credential('Password of the user.');

const aws: SettingsSchema<AwsSettings>['properties'] = {
  region: pattern(
    'Region that signs the requests. Defaults to `us-east-1`.',
    '^[a-z0-9-]{1,64}$',
    'us-east-1',
  ),
  access_key_id: text('ID of the access key.', 256),
  secret_access_key: credential('Secret of the access key.'),
};

export const SETTINGS: { readonly [T in DestinationType]: SettingsSchema<SettingsOf[T]> } = {
  kafka: schema<KafkaSettings>(
    ['brokers', 'topic'],
    {
      brokers: {
        type: 'array',
        minItems: 1,
        maxItems: 10,
        items: { type: 'string', maxLength: 300, pattern: String.raw`^[^\s/@:]+:[0-9]{1,5}$` },
        description: 'Addresses of brokers to start from, each `host:port`.',
      },
      topic: pattern('Name of the topic, which must exist.', '^[A-Za-z0-9._-]{1,249}$'),
      tls,
      ca,
      mechanism: choice('SASL mechanism of the user. Defaults to `none`.', ['none', ...SASL]),
      username: text('Name of the user.', 256),
      password,
    },
    {
      if: { required: ['mechanism'], properties: { mechanism: { enum: SASL } } },
      then: { required: ['username', 'password'] },
    },
  ),
  amqp: schema<AmqpSettings>(['host', 'username', 'password', 'routing_key'], {
    host: text('Host name of the server.', 253, { pattern: String.raw`^[^\s/@]+$` }),
    port: {
      type: 'integer',
      minimum: 1,
      maximum: 65_535,
      description: 'Port of the server. Defaults to 5671.',
    },
    tls,
    ca,
    vhost: text('Virtual host. Defaults to `/`.', 255, { default: '/' }),
    username: text('Name of the user.', 255),
    password,
    exchange: text(
      'Name of the exchange. Defaults to the default exchange, whose routing key is the name of a queue.',
      127,
      { minLength: 0, default: '' },
    ),
    routing_key: text(
      'Routing key of the messages. `{event}` in it becomes the name of the event, and `{conversation}` the key of its conversation.',
      255,
    ),
  }),
  sqs: schema<SqsSettings>(['queue_url', 'access_key_id', 'secret_access_key'], {
    queue_url: text(
      'URL of the queue. One that ends in `.fifo` keeps the order of conversations.',
      URL_MAX,
      { format: 'uri' },
    ),
    ...aws,
  }),
  s3: schema<S3Settings>(['endpoint', 'bucket', 'access_key_id', 'secret_access_key'], {
    endpoint: text(
      'URL of the storage service, such as `https://s3.eu-central-1.amazonaws.com`.',
      URL_MAX,
      { format: 'uri' },
    ),
    bucket: pattern('Name of the bucket, which must exist.', '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$'),
    prefix: text('Folder of the objects, with a slash at its end. Defaults to none.', 200, {
      minLength: 0,
      pattern: String.raw`^(?:(?!\.{1,2}/)[A-Za-z0-9._-]+/)*$`,
      default: '',
    }),
    addressing: choice(
      'Whether the name of the bucket is in the path or in the host. Defaults to `path`.',
      ['path', 'host'],
    ),
    ...aws,
  }),
};

/**
 * The settings that decide which server is sent the credentials. SQS and S3 servers are sent
 * signatures, which allow guesses of a weak secret and a repetition of the request elsewhere.
 */
export const SERVER_SETTINGS: {
  readonly [T in DestinationType]: readonly (keyof SettingsOf[T])[];
} = {
  kafka: ['brokers', 'tls', 'ca'],
  amqp: ['host', 'port', 'tls', 'ca'],
  sqs: ['queue_url'],
  s3: ['endpoint', 'addressing'],
};

/** Of the IDs of endpoints that have a destination: a delivery's receiver shows what it is. */
export const DESTINATION_ID_PREFIX = 'whd';

export const DESTINATION_TYPES = Object.keys(SETTINGS) as readonly DestinationType[];

export const isDestinationType = (text: string): text is DestinationType =>
  Object.hasOwn(SETTINGS, text);
