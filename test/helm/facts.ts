// The facts that the chart needs about the code: ports, consumed topics, names of settings and
// secrets, and the rules for their values.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { topics } from '@bmg/common/bus';
import { fields, type Field } from '@bmg/common/config';
import { SERVICES as CALLED } from '../../deploy/cli/src/session';
import { settings as gateway } from '../../gateway/src/config';
import { settings as broadcasts } from '../../services/broadcasts/src/config';
import { settings as destinations } from '../../services/destinations/src/config';
import { settings as fanout } from '../../services/fanout/src/config';
import { settings as messaging } from '../../services/messaging/src/config';
import { settings as numberAdmin } from '../../services/number-admin/src/config';
import { settings as onboarding } from '../../services/onboarding/src/config';
import { settings as templates } from '../../services/templates/src/config';
import { settings as webhooks } from '../../services/webhooks/src/config';
import {
  SERVICES as TABLE,
  type ServiceFacts,
  type ServiceName,
} from '../../deploy/local/src/services';
import { consumedTopics } from '../testkit/consumed-topics';

export const ROOT = resolve(__dirname, '../..');

const SETTINGS: Record<ServiceName, Record<string, Field<unknown>>> = {
  gateway,
  onboarding,
  messaging,
  templates,
  broadcasts,
  'number-admin': numberAdmin,
  webhooks,
  destinations,
  fanout,
};

/** Each service's settings by name. The gateway comes first, as partners meet it first. */
export const SERVICES: Record<string, Record<string, Field<unknown>>> = SETTINGS;

/** The folder that each image is built from. */
export const WORKSPACES: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries<ServiceFacts>(TABLE).map(([name, { workspace }]) => [name, workspace]),
  ),
  cli: 'deploy/cli',
};

/** Settings that the telemetry of every process reads, outside of the services' settings tables. */
export const EVERYWHERE: Record<string, { schema: Record<string, unknown>; description: string }> =
  {
    LOG_LEVEL: {
      schema: { type: 'string', enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] },
      description: 'JSON lines on standard output',
    },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      schema: { type: 'string', format: 'uri' },
      description: 'where traces are sent; unset, none are sent',
    },
    OTEL_TRACES_SAMPLER_ARG: {
      schema: { type: 'number', minimum: 0, maximum: 1 },
      description: 'share of traces that are sampled, where the caller has not decided',
    },
  };

/** URLs that carry passwords, so the chart treats them as secrets. */
const WITH_PASSWORDS = ['MONGO_URL', 'REDIS_URL'];
/** Not configurable in the chart: a container listens on all addresses, on its default port. */
const FIXED = /_(HOST|PORT)$/;
/** Replaced by caBundle, which applies to all engines. */
const LEFT_OUT = ['KAFKA_TLS_CA_FILE', 'MONGO_TLS_CA_FILE', 'REDIS_TLS_CA_FILE'];

const isSecret = ([name, { secret }]: [string, Field<unknown>]): boolean =>
  secret === true || WITH_PASSWORDS.includes(name);
const isOptional = ({ schema }: Field<unknown>): boolean => schema['optional'] === true;

type Facts = ReturnType<typeof factsOf>;

export const facts = (): Record<string, Facts> =>
  Object.fromEntries(Object.keys(SERVICES).map((name) => [name, factsOf(name)]));

function factsOf(name: string) {
  const table = SERVICES[name] ?? {};
  const portOf = (setting: string): number | undefined =>
    table[setting]?.default as number | undefined;
  const grpc = portOf('GRPC_PORT');
  const http = portOf('GATEWAY_PORT') ?? portOf('INGRESS_PORT');
  const secrets = Object.entries(table).filter(isSecret);
  // A secret that is optional for one service and required by another is always present.
  const needed = new Set(
    Object.values(SERVICES)
      .flatMap((one) => Object.entries(one))
      .filter(([, field]) => !isOptional(field))
      .map(([setting]) => setting),
  );
  return {
    metrics: portOf('METRICS_PORT') as number,
    ...(grpc !== undefined && { grpc }),
    ...(http !== undefined && { http }),
    outside: 'UPSTREAM_URL' in table || 'ALLOW_PRIVATE_URLS' in table,
    consumes: consumedBy(name),
    settings: Object.keys(table)
      .filter((setting) => !secrets.some(([secret]) => secret === setting))
      .filter((setting) => !FIXED.test(setting) && !LEFT_OUT.includes(setting)),
    secrets: secrets.map(([setting]) => setting).filter((setting) => needed.has(setting)),
    optional_secrets: secrets.map(([setting]) => setting).filter((setting) => !needed.has(setting)),
  };
}

/** What the operator's pod is given: the addresses of the services, its certificate, and Kafka. */
export const OPERATOR = {
  settings: [
    ...['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE', 'GRPC_TLS_CA_FILE'],
    ...Object.keys(fields.kafka).filter(
      (name) => !LEFT_OUT.includes(name) && name !== 'KAFKA_SASL_PASSWORD',
    ),
    ...Object.values(CALLED).map(([setting]) => setting),
  ],
  secrets: [] as string[],
  optional_secrets: ['KAFKA_SASL_PASSWORD'],
};

/** The consumer groups of a service, read from its source. */
function consumedBy(name: string) {
  const folder = join(ROOT, WORKSPACES[name] as string, 'src');
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  return consumedTopics(name, code)
    .map(([topic, group]) => {
      const { name: of, partitions } = topics[topic];
      return { group, topic: of, partitions };
    })
    .sort((one, other) => one.group.localeCompare(other.group));
}

/** The JSON Schema of every setting and secret, from the rules that the services apply. */
export function definitions(): Record<'settings' | 'secrets', Record<string, unknown>> {
  const all = Object.values(facts());
  const names = (pick: (one: Facts) => string[]): string[] =>
    [...new Set(all.flatMap(pick))].sort();
  return {
    settings: Object.fromEntries([
      ...names((one) => one.settings).map((name) => [name, schemaOf(name)]),
      ...Object.entries(EVERYWHERE).map(([name, { schema, description }]) => [
        name,
        { ...schema, description },
      ]),
    ]) as Record<string, unknown>,
    secrets: Object.fromEntries(
      names((one) => [...one.secrets, ...one.optional_secrets]).map((name) => [
        name,
        schemaOf(name),
      ]),
    ),
  };
}

function schemaOf(name: string): Record<string, unknown> {
  const field = Object.values(SERVICES)
    .map((table) => table[name])
    .find((one) => one !== undefined);
  const { optional: _optional, ...schema } = field?.schema ?? {};
  return { ...schema, description: field?.description };
}
