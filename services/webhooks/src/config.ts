import { fields } from '@bmg/common/config';

/** The documentation of the service's environment. */
export const settings = {
  ...fields.grpcServer(50056),
  INGRESS_HOST: fields.text('address that the upstream’s webhooks are taken on', {
    default: '0.0.0.0',
  }),
  INGRESS_PORT: fields.port(8081, 'port of the upstream’s webhooks'),
  METRICS_PORT: fields.port(9106, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.mongo,
  ...fields.kafka,
  ...fields.redis,
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
  UPSTREAM_APP_SECRET: fields.secret('signs the upstream’s webhooks', {
    insecure: 'app-secret-local',
  }),
  UPSTREAM_VERIFY_TOKEN: fields.secret('answer to the upstream’s verification', {
    insecure: 'verify-local',
  }),
  ALLOW_PRIVATE_URLS: fields.flag('lets webhook URLs be http and private: for local work', false),
  DELIVERY_SHARE: fields.integer(
    { min: 1, max: 10_000, default: 64 },
    'attempts under way for one partner',
  ),
  DELIVERY_TOTAL: fields.integer(
    { min: 1, max: 100_000, default: 1_024 },
    'attempts under way for all partners',
  ),
};
