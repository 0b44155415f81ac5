// The settings of each type of destination, as JSON Schema: a partner's Kafka topic, AMQP exchange, SQS
// queue or S3 bucket. Descriptions are sentences: the reference prints them.

export interface KafkaSettings {
  brokers: string[];
  topic: string;
  tls: boolean;
  ca?: string;
  mechanism: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512';
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

const tls: SettingSchema = {
  type: 'boolean',
  default: true,
  description: 'Whether the connection is encrypted; it must be. Defaults to true.',
};
const ca: SettingSchema = {
  type: 'string',
  minLength: 1,
  maxLength: CERTIFICATES_MAX,
  description: 'Certificate authority of the servers in PEM, unless it is a public one.',
};
const password: SettingSchema = {
  type: 'string',
  minLength: 1,
  maxLength: CREDENTIAL_MAX,
  writeOnly: true,
  description: 'Password of the user. It is stored encrypted and never shown again.',
};

const aws = {
  region: {
    type: 'string',
    pattern: '^[a-z0-9-]{1,64}$',
    default: 'us-east-1',
    description: 'Region that signs the requests. Defaults to `us-east-1`.',
  },
  access_key_id: {
    type: 'string',
    minLength: 1,
    maxLength: 256,
    description: 'ID of the access key.',
  },
  secret_access_key: {
    type: 'string',
    minLength: 1,
    maxLength: CREDENTIAL_MAX,
    writeOnly: true,
    description: 'Secret of the access key. It is stored encrypted and never shown again.',
  },
} as const satisfies SettingsSchema<AwsSettings>['properties'];

export const SETTINGS: { readonly [T in DestinationType]: SettingsSchema<SettingsOf[T]> } = {
  kafka: {
    type: 'object',
    additionalProperties: false,
    required: ['brokers', 'topic'],
    properties: {
      brokers: {
        type: 'array',
        minItems: 1,
        maxItems: 10,
        items: { type: 'string', maxLength: 300, pattern: String.raw`^[^\s/@:]+:[0-9]{1,5}$` },
        description: 'Addresses of brokers to start from, each `host:port`.',
      },
      topic: {
        type: 'string',
        pattern: '^[A-Za-z0-9._-]{1,249}$',
        description: 'Name of the topic, which must exist.',
      },
      tls,
      ca,
      mechanism: {
        type: 'string',
        enum: ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
        default: 'none',
        description: 'SASL mechanism of the user. Defaults to `none`.',
      },
      username: { type: 'string', minLength: 1, maxLength: 256, description: 'Name of the user.' },
      password,
    },
    if: {
      required: ['mechanism'],
      properties: { mechanism: { enum: ['plain', 'scram-sha-256', 'scram-sha-512'] } },
    },
    then: { required: ['username', 'password'] },
  },
  amqp: {
    type: 'object',
    additionalProperties: false,
    required: ['host', 'username', 'password', 'routing_key'],
    properties: {
      host: {
        type: 'string',
        minLength: 1,
        maxLength: 253,
        pattern: String.raw`^[^\s/@]+$`,
        description: 'Host name of the server.',
      },
      port: {
        type: 'integer',
        minimum: 1,
        maximum: 65_535,
        description: 'Port of the server. Defaults to 5671.',
      },
      tls,
      ca,
      vhost: {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        default: '/',
        description: 'Virtual host. Defaults to `/`.',
      },
      username: { type: 'string', minLength: 1, maxLength: 255, description: 'Name of the user.' },
      password,
      exchange: {
        type: 'string',
        maxLength: 127,
        default: '',
        description:
          'Name of the exchange. Defaults to the default exchange, whose routing key is the name of a queue.',
      },
      routing_key: {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        description:
          'Routing key of the messages. `{event}` in it becomes the name of the event, and `{conversation}` the key of its conversation.',
      },
    },
  },
  sqs: {
    type: 'object',
    additionalProperties: false,
    required: ['queue_url', 'access_key_id', 'secret_access_key'],
    properties: {
      queue_url: {
        type: 'string',
        minLength: 1,
        maxLength: URL_MAX,
        format: 'uri',
        description: 'URL of the queue. One that ends in `.fifo` keeps the order of conversations.',
      },
      ...aws,
    },
  },
  s3: {
    type: 'object',
    additionalProperties: false,
    required: ['endpoint', 'bucket', 'access_key_id', 'secret_access_key'],
    properties: {
      endpoint: {
        type: 'string',
        minLength: 1,
        maxLength: URL_MAX,
        format: 'uri',
        description: 'URL of the storage service, such as `https://s3.eu-central-1.amazonaws.com`.',
      },
      bucket: {
        type: 'string',
        pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
        description: 'Name of the bucket, which must exist.',
      },
      prefix: {
        type: 'string',
        maxLength: 200,
        pattern: String.raw`^(?:(?!\.{1,2}/)[A-Za-z0-9._-]+/)*$`,
        default: '',
        description: 'Folder of the objects, with a slash at its end. Defaults to none.',
      },
      addressing: {
        type: 'string',
        enum: ['path', 'host'],
        default: 'path',
        description:
          'Whether the name of the bucket is in the path or in the host. Defaults to `path`.',
      },
      ...aws,
    },
  },
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
