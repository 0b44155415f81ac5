// One function per kind of setting. A field is a JSON Schema for the text in the environment, with
// the description from which the settings table is generated.
import { DEFAULT_IDENTITIES, isLoopback } from './tls';

export interface Field<T> {
  schema: Record<string, unknown>;
  description: string;
  default?: T;
  /** Read from a file too (NAME_FILE), and never printed. */
  secret?: boolean;
  /** Local default that must not reach production: its use is logged as a warning. */
  insecure?: string;
  /** Names a file that must be readable at startup. */
  file?: boolean;
  /** Settings that must be set together with this one. */
  needs?: string[];
  /** Returns a fault that the schema cannot express, without the value. */
  check?: (value: string) => string | undefined;
  /** Returns a warning for the log when the value is risky. */
  warn?: (config: Record<string, unknown>) => string | undefined;
  /** Marks the value's type; never set. */
  value?: T;
}

type Options<T> = { default?: T; insecure?: string };

const field = <T>(
  schema: Record<string, unknown>,
  description: string,
  options: Options<T> & Pick<Field<T>, 'secret' | 'check'> = {},
): Field<T> => ({ schema, description, ...options });

export const port = (fallback: number, description: string): Field<number> =>
  field({ type: 'integer', minimum: 0, maximum: 65_535 }, description, { default: fallback });

export const integer = (
  range: { min: number; max: number; default: number },
  description: string,
): Field<number> =>
  field({ type: 'integer', minimum: range.min, maximum: range.max }, description, {
    default: range.default,
  });

export const text = (description: string, options: Options<string> = {}): Field<string> =>
  field({ type: 'string', minLength: 1 }, description, options);

export const url = (description: string, options: Options<string> = {}): Field<string> =>
  field({ type: 'string', format: 'uri' }, description, options);

export const flag = (description: string, fallback: boolean): Field<boolean> =>
  field({ type: 'boolean' }, description, { default: fallback });

export const oneOf = <T extends string>(
  values: readonly T[],
  description: string,
  fallback: T,
): Field<T> => field({ type: 'string', enum: values }, description, { default: fallback });

const IPV4_AND_PORT = '\\d{1,3}(\\.\\d{1,3}){3}:\\d{1,5}';

/** host:port, or several of them, comma-separated. */
export const addresses = (description: string, options: Options<string> = {}): Field<string> =>
  field(
    { type: 'string', pattern: '^[^\\s,:]+:\\d{1,5}(,[^\\s,:]+:\\d{1,5})*$' },
    description,
    options,
  );

/** The address of a service: a name and a port, or several replicas by IPv4 address. */
export const serviceAddress = (service: string, more = ''): Field<string> =>
  field(
    { type: 'string', pattern: `^([^\\s,:]+:\\d{1,5}|${IPV4_AND_PORT}(,${IPV4_AND_PORT})+)$` },
    `the ${service} service, host:port${more}`,
    {},
  );

export const secret = (
  description: string,
  options: Options<string> & Pick<Field<string>, 'check'> & { pattern?: string } = {},
): Field<string> => {
  const { pattern, ...rest } = options;
  return field({ type: 'string', minLength: 1, ...(pattern && { pattern }) }, description, {
    ...rest,
    secret: true,
  });
};

/** A setting that may be left out. */
export const optional = <T>(inner: Field<T>): Field<T | undefined> => ({
  ...inner,
  schema: { ...inner.schema, optional: true },
});

/** A file whose content may change at run time; at startup it must be readable. */
export const file = (description: string): Field<string> => ({
  ...field<string>({ type: 'string', minLength: 1 }, description),
  file: true,
});

const TLS_FILES = ['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE', 'GRPC_TLS_CA_FILE'];
/** True when gRPC stays on this machine. */
const isLocal = (config: Record<string, unknown>): boolean =>
  Object.entries(config)
    .filter(([name, value]) => /^GRPC_HOST$|_ADDR$/.test(name) && value !== undefined)
    .every(([, value]) => isLoopback(String(value)));

const tlsFile = (description: string): Field<string | undefined> => ({
  ...optional(file(description)),
  needs: TLS_FILES,
});

const IDENTITY = '(DNS|URI):[^\\s,"]*\\{caller\\}[^\\s,"]*';

/** The three files are set together or not at all. */
const grpcTls = {
  GRPC_TLS_CERT_FILE: {
    ...tlsFile(
      'this process’s gRPC certificate, PEM with its chain; its names identify the caller',
    ),
    warn: (config: Record<string, unknown>) =>
      config['GRPC_TLS_CERT_FILE'] !== undefined || isLocal(config)
        ? undefined
        : 'GRPC_TLS_CERT_FILE is not set: gRPC is neither encrypted nor authenticated',
  },
  GRPC_TLS_KEY_FILE: tlsFile('the key of that certificate, PEM'),
  GRPC_TLS_CA_FILE: tlsFile('the certificate authority of the mesh, PEM'),
  GRPC_IDENTITIES: field<string>(
    { type: 'string', pattern: `^${IDENTITY}(,${IDENTITY})*$` },
    'the names in certificates that identify callers, comma-separated, whole, with `{caller}` for the caller’s name: `DNS:bmg-{caller}.messaging.svc`, `URI:spiffe://mesh.example/ns/bmg/sa/{caller}`',
    { default: DEFAULT_IDENTITIES },
  ),
  GRPC_ALLOW_PLAINTEXT: {
    ...flag(
      'lets callers without a certificate use every RPC, also from other machines; without it they are refused, unless gRPC listens on a loopback address: there every user of the machine may call what processes of the mesh call, but not the operator’s RPCs',
      false,
    ),
    warn: (config: Record<string, unknown>) =>
      config['GRPC_ALLOW_PLAINTEXT'] === true && !isLocal(config)
        ? 'GRPC_ALLOW_PLAINTEXT is set: every process that reaches the gRPC ports can read secrets'
        : undefined,
  },
};

export const proxyHops = integer(
  { min: 0, max: 10, default: 0 },
  'proxies in front that add to X-Forwarded-For: that many addresses, counted from its end, are trusted',
);

/** Settings of every service that talks to the named engine or neighbour. */
export const shared = {
  ...grpcTls,
  METRICS_HOST: text('address that /metrics, /livez and /readyz listen on', { default: '0.0.0.0' }),
  STOP_TIMEOUT_MS: integer(
    { min: 1_000, max: 120_000, default: 25_000 },
    'maximum duration of a graceful shutdown; after it the process exits with code 1',
  ),
  DRAIN_MS: integer(
    { min: 0, max: 30_000, default: 250 },
    'how long the process reports not ready on shutdown before it stops taking work (set it above the interval of your load balancer’s checks)',
  ),
};

/** A short name that may be empty. */
const prefix = (description: string): Field<string> =>
  field({ type: 'string', pattern: '^[\\w:.-]{0,64}$' }, description, { default: '' });

const authorityFile = (of: string) =>
  optional(file(`file with the certificate authorities of ${of}, if they are not public ones`));

export const mongo = {
  MONGO_URL: url('the MongoDB server of this service'),
  MONGO_TLS_CA_FILE: authorityFile('MongoDB'),
  MONGO_DATABASE_PREFIX: prefix('prefix of the database name, to share a server'),
};

export const kafka = {
  KAFKA_BROKERS: addresses('Kafka brokers, host:port, comma-separated'),
  KAFKA_TOPIC_PREFIX: text('prefix of every topic and group name, to share a cluster', {
    default: 'bmg.',
  }),
  KAFKA_REPLICATION: integer(
    { min: 1, max: 9, default: 1 },
    'replication factor of topics that this process creates',
  ),
  KAFKA_TLS: flag('whether to connect to the brokers over TLS', false),
  KAFKA_TLS_CA_FILE: authorityFile('the brokers'),
  KAFKA_SASL_MECHANISM: oneOf(
    ['none', 'plain', 'scram-sha-256', 'scram-sha-512'] as const,
    'how this process authenticates to the brokers',
    'none',
  ),
  KAFKA_SASL_USERNAME: optional(text('SASL user name')) as Field<string | undefined>,
  KAFKA_SASL_PASSWORD: optional(secret('SASL password')) as Field<string | undefined>,
};

export const redis = {
  REDIS_URL: url('the Redis server: rate limiter, directory versions, memory of deliveries'),
  REDIS_TLS_CA_FILE: authorityFile('Redis'),
  REDIS_KEY_PREFIX: prefix('prefix of every key, to share a server'),
};

export const eventLog = {
  EVENT_LOG_DAYS: integer(
    { min: 1, max: 365, default: 30 },
    'how many days events and their delivery attempts are kept in the event log',
  ),
};

export const grpcServer = (fallback: number) => ({
  GRPC_HOST: text('address that gRPC listens on', { default: '0.0.0.0' }),
  GRPC_PORT: port(fallback, 'gRPC listen port'),
});

export const upstream = {
  UPSTREAM_URL: url('base address of the upstream API', { default: 'https://graph.facebook.com' }),
  UPSTREAM_API_VERSION: field<string>(
    { type: 'string', pattern: '^v\\d+\\.\\d+$' },
    'version segment of every upstream call',
    { default: 'v26.0' },
  ),
  UPSTREAM_TIMEOUT_MS: integer(
    { min: 100, max: 120_000, default: 10_000 },
    'timeout of an upstream request',
  ),
};
