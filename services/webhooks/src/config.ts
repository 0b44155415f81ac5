import { fields } from '@bmg/common/config';

/** The service's settings; their descriptions become deploy/SETTINGS.md. */
export const settings = {
  ...fields.grpcServer(50056),
  INGRESS_HOST: fields.text('address on which the ingress listens for the upstream’s webhooks', {
    default: '0.0.0.0',
  }),
  INGRESS_PORT: fields.port(8081, 'port on which the ingress listens for the upstream’s webhooks'),
  METRICS_PORT: fields.port(9106, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.mongo,
  ...fields.kafka,
  ...fields.redis,
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
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
  DELIVERY_SHARE: fields.integer(
    { min: 1, max: 10_000, default: 64 },
    'maximum attempts in flight per partner',
  ),
  DELIVERY_TOTAL: fields.integer(
    { min: 1, max: 100_000, default: 1_024 },
    'maximum attempts in flight for all partners',
  ),
};
