import { fields, type Loaded } from '@bmg/common/config';
import { pepperFault } from '@bmg/common/keys';
import { KEYRING_PATTERN } from '@bmg/common/vault';
import { PROCESSOR_NAMES } from './billing/payments/choose-processor';

/** The documentation of the service's environment. */
export const settings = {
  ...fields.grpcServer(50051),
  METRICS_PORT: fields.port(9101, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.mongo,
  ...fields.kafka,
  ...fields.redis,
  ...fields.upstream,
  ...fields.eventLog,
  PUBLIC_URL: fields.url('address under which partners and browsers reach the gateway'),
  UPSTREAM_APP_ID: fields.optional(fields.text('app of the embedded sign-up')),
  UPSTREAM_APP_SECRET: fields.optional(
    fields.secret('secret of that app; without it the embedded sign-up is not configured', {
      insecure: 'app-secret-local',
    }),
  ),
  UPSTREAM_CONFIG_ID: fields.optional(fields.text('configuration of the embedded sign-up')),
  UPSTREAM_FEATURE_TYPE: fields.text('extras.featureType of the sign-up dialog', {
    default: 'messaging_business_app_onboarding',
  }),
  ENCRYPTION_KEYRING: fields.secret(
    'key-encryption keys `id:hkdf:base64` (32 bytes each; `id:base64` is the older form), newest first, comma-separated',
    { pattern: KEYRING_PATTERN, insecure: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' },
  ),
  KEY_PEPPER: fields.secret(
    'keys the hash of partner keys and connect tokens: one text, or a ring of keys `id:base64` (32 bytes each), newest first, comma-separated; a former single text is the entry `:base64`',
    { check: pepperFault, insecure: 'local-pepper-not-for-production' },
  ),
  OIDC_ISSUER: fields.optional(
    fields.url('issuer (OpenID Connect) with which people sign in to the console'),
  ),
  OIDC_CLIENT_ID: fields.optional(
    fields.text('client of the gateway at the issuer; required with OIDC_ISSUER'),
  ),
  OIDC_CLIENT_SECRET: fields.optional(
    fields.secret('secret of that client; required with OIDC_ISSUER'),
  ),
  PAYMENT_PROCESSOR: fields.oneOf(
    PROCESSOR_NAMES,
    'collects the fee for slots: `none` or `stripe`, which needs the two secrets below',
    'none',
  ),
  STRIPE_API_KEY: fields.optional(
    fields.secret('secret key of the Stripe account; required if PAYMENT_PROCESSOR is stripe'),
  ),
  STRIPE_WEBHOOK_SECRET: fields.optional(
    fields.secret(
      'signs the webhooks to /webhooks/payments; required if PAYMENT_PROCESSOR is stripe',
    ),
  ),
  STRIPE_API_BASE: fields.url('address of the Stripe API, or of a double of it', {
    default: 'https://api.stripe.com',
  }),
  RATE_LIMIT_PER_SEC: fields.integer(
    { min: 1, max: 100_000, default: 200 },
    'a partner’s rate limit unless the partner has its own',
  ),
  CONNECT_SESSIONS_MAX: fields.integer(
    { min: 1, max: 1_000_000, default: 10_000 },
    'connect sessions of one partner in 25 hours; further ones are refused with QUOTA_EXCEEDED',
  ),
  AUDITED_CHANGES_MAX: fields.integer(
    { min: 1, max: 10_000_000, default: 50_000 },
    'the most changes of one partner on a day (UTC), of which a key or person has a fifth; further ones are refused with RATE_LIMIT_EXCEEDED, except those that reduce risk',
  ),
  AUDIT_EXPORT_URL: fields.optional(
    fields.url('takes the audit log by POST, as lines of JSON; not exported unless set'),
  ),
  AUDIT_EXPORT_TOKEN: fields.optional(
    fields.secret('bearer token for AUDIT_EXPORT_URL; required with it'),
  ),
  ALLOW_PRIVATE_URLS: fields.flag(
    'lets partner-given URLs be http and private: for local work',
    false,
  ),
};

export type Config = Loaded<typeof settings>['config'];
