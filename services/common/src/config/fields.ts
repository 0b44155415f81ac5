// One function per kind of setting. A field is a JSON Schema for the text in the environment, with its
// description: the documentation of a service's environment is made from it.
export interface Field<T> {
  schema: Record<string, unknown>;
  description: string;
  default?: T;
  /** Read from a file too (NAME_FILE), and never printed. */
  secret?: boolean;
  /** Fixed local value that must not reach production: using it warns. */
  insecure?: string;
  /** Marks the value's type; never set. */
  value?: T;
}

type Options<T> = { default?: T; insecure?: string };

const field = <T>(
  schema: Record<string, unknown>,
  description: string,
  options: Options<T> & { secret?: boolean } = {},
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

/** host:port, or several of them, comma-separated. */
export const addresses = (description: string, options: Options<string> = {}): Field<string> =>
  field(
    { type: 'string', pattern: '^[^\\s,:]+:\\d{1,5}(,[^\\s,:]+:\\d{1,5})*$' },
    description,
    options,
  );

export const secret = (
  description: string,
  options: Options<string> & { pattern?: string } = {},
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

/** Settings of every service that talks to the named engine or neighbour. */
export const shared = {
  METRICS_HOST: text('address that /metrics, /livez and /readyz listen on', { default: '0.0.0.0' }),
  STOP_TIMEOUT_MS: integer(
    { min: 1_000, max: 120_000, default: 25_000 },
    'how long a graceful stop may take before the process ends itself',
  ),
  DRAIN_MS: integer(
    { min: 0, max: 30_000, default: 250 },
    'how long a stopping process reports not ready before it stops taking work (set it above the period of your load balancer’s checks)',
  ),
};

/** A short name that may be empty. */
const prefix = (description: string): Field<string> =>
  field({ type: 'string', pattern: '^[\\w:.-]{0,64}$' }, description, { default: '' });

export const mongo = {
  MONGO_URL: url('this service’s own database server'),
  MONGO_DATABASE_PREFIX: prefix('put before the database’s name, to share a server'),
};

export const kafka = {
  KAFKA_BROKERS: addresses('Kafka brokers, host:port, comma-separated'),
  KAFKA_TOPIC_PREFIX: text('put before every topic and group name, to share a cluster', {
    default: 'bmg.',
  }),
  KAFKA_REPLICATION: integer(
    { min: 1, max: 9, default: 1 },
    'replication factor of topics that this process creates',
  ),
};

export const redis = {
  REDIS_URL: url('shared limiter, directory versions, delivery memory'),
  REDIS_KEY_PREFIX: prefix('put before every key, to share a server'),
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
    'how long an upstream answer may take',
  ),
};
