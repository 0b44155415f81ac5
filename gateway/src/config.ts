import { fields, type Field } from '@bmg/common/config';
import { pepperFault } from '@bmg/common/keys';

/** The gateway's settings, by environment variable; deploy/SETTINGS.md is generated from them. */
export const settings = {
  GATEWAY_HOST: fields.text('address that the REST API listens on', { default: '0.0.0.0' }),
  GATEWAY_PORT: fields.port(8080, 'port of the REST API, the onboarding page and the documents'),
  METRICS_PORT: fields.port(9100, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.kafka,
  ...fields.redis,
  PUBLIC_URL: fields.url('address under which partners and browsers reach the gateway'),
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
  MESSAGING_ADDR: fields.serviceAddress('messaging'),
  TEMPLATES_ADDR: fields.serviceAddress('templates'),
  BROADCASTS_ADDR: fields.serviceAddress('broadcasts'),
  NUMBER_ADMIN_ADDR: fields.serviceAddress('number-admin'),
  WEBHOOKS_ADDR: fields.serviceAddress('webhooks'),
  KEY_PEPPER: fields.secret(
    'keys the hash of partner keys and connect tokens: one text, or a ring of keys `id:base64` (32 bytes each), newest first, comma-separated; a former single text is the entry `:base64`',
    { check: pepperFault, insecure: 'local-pepper-not-for-production' },
  ),
  OIDC_ISSUER: fields.optional(
    fields.url('issuer (OpenID Connect) with which people sign in to the console'),
  ) as Field<string | undefined>,
  CONSOLE_TEXTS: fields.flag(
    'whether the console has the texts that customers wrote, from the event log; otherwise no answer of its API has them',
    false,
  ),
  UPSTREAM_SDK_URL: fields.url('script that the onboarding page loads for the sign-up dialog', {
    default: 'https://connect.facebook.net/en_US/sdk.js',
  }),
  PROXY_HOPS: fields.proxyHops,
  REQUESTS_IN_FLIGHT_MAX: fields.integer(
    { min: 1, max: 100_000, default: 2_000 },
    'requests in flight at once in a replica, of one partner up to half of them; further ones get 503',
  ),
  REQUEST_TIMEOUT_MS: fields.integer(
    { min: 1_000, max: 300_000, default: 20_000 },
    'timeout of a request; endpoints that transfer files have longer ones',
  ),
};
