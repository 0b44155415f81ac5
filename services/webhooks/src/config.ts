import { fields, type Field, type Loaded } from '@bmg/common/config';
import { KEYRING_PATTERN } from '@bmg/common/vault';

const CANARY = [
  'CANARY_URL',
  'CANARY_PARTNER_KEY',
  'CANARY_WEBHOOK_SECRET',
  'CANARY_WABA_ID',
  'CANARY_TO',
];
/** Set together, or not at all. */
const ofCanary = <T>(field: Field<T>): Field<T | undefined> => ({
  ...fields.optional(field),
  needs: CANARY,
});

/** The service's settings; their descriptions become deploy/SETTINGS.md. */
export const settings = {
  WEBHOOKS_ROLE: fields.oneOf(
    ['all', 'ingress', 'delivery'],
    'what the process does: `ingress` takes the upstream’s webhooks in, `delivery` sends events to partners and answers gRPC, `all` does both',
    'all',
  ),
  ...fields.grpcServer(50056),
  INGRESS_HOST: fields.text('address on which the ingress listens for the upstream’s webhooks', {
    default: '0.0.0.0',
  }),
  INGRESS_PORT: fields.port(8081, 'port on which the ingress listens for the upstream’s webhooks'),
  PROXY_HOPS: fields.proxyHops,
  METRICS_PORT: fields.port(9106, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.mongo,
  ...fields.kafka,
  ...fields.redis,
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
  DESTINATIONS_ADDR: fields.serviceAddress('destinations'),
  UPSTREAM_APP_SECRET: fields.secret(
    'app secret that verifies the signature of the upstream’s webhooks',
    {
      insecure: 'app-secret-local',
    },
  ),
  UPSTREAM_VERIFY_TOKEN: fields.secret(
    'token that the upstream must send to verify the webhook address',
    {
      insecure: 'verify-local',
    },
  ),
  ALLOW_PRIVATE_URLS: fields.flag(
    'allows http and private addresses in webhook URLs, for local development',
    false,
  ),
  ...fields.eventLog,
  EVENT_LOG_SEALED: fields.flag('whether the event log stores events encrypted', true),
  EVENT_LOG_KEYRING: {
    ...fields.optional(
      fields.secret(
        'key-encryption keys of the event log, `id:hkdf:base64` (32 bytes each; `id:base64` is the older form), newest first, comma-separated; keep an old key for EVENT_LOG_DAYS',
        { pattern: KEYRING_PATTERN },
      ),
    ),
    warn: ({ EVENT_LOG_SEALED, EVENT_LOG_KEYRING }: Record<string, unknown>) =>
      EVENT_LOG_SEALED && EVENT_LOG_KEYRING === undefined
        ? 'EVENT_LOG_KEYRING is not set: the event log is stored unencrypted'
        : undefined,
  },
  DELIVERY_SHARE: fields.integer(
    { min: 1, max: 10_000, default: 64 },
    'maximum attempts in flight per partner',
  ),
  DELIVERY_TOTAL: fields.integer(
    { min: 1, max: 100_000, default: 1_024 },
    'maximum attempts in flight for all partners',
  ),
  CANARY_URL: ofCanary(
    fields.url(
      'public base address of the API, `https://…/v1`: with it and the other CANARY_ settings, a message of an operator’s own test partner tests the whole path; its webhook URL is `/webhooks/canary` of the ingress',
    ),
  ),
  CANARY_PARTNER_KEY: ofCanary(fields.secret('key of the canary’s partner')),
  CANARY_WEBHOOK_SECRET: ofCanary(fields.secret('webhook secret of the canary’s partner')),
  CANARY_WABA_ID: ofCanary(fields.text('business account that the canary sends from')),
  CANARY_TO: ofCanary(fields.text('phone number that the canary sends to')),
  CANARY_TEMPLATE: fields.text('name of an approved template in `en_US` that the canary sends', {
    default: 'hello_world',
  }),
  CANARY_EVERY_S: fields.integer(
    { min: 2, max: 120, default: 60 },
    'seconds between two messages of the canary',
  ),
  CANARY_TIMEOUT_S: fields.integer(
    { min: 1, max: 60, default: 30 },
    'seconds in which the event of a canary’s message must arrive',
  ),
};

export type Config = Loaded<typeof settings>['config'];
