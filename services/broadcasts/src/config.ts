import { fields, type Loaded } from '@bmg/common/config';

/** The settings of the service; the settings table is generated from them. */
export const settings = {
  ...fields.grpcServer(50054),
  METRICS_PORT: fields.port(9104, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.mongo,
  ...fields.kafka,
  ...fields.redis,
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
  MESSAGING_ADDR: fields.serviceAddress('messaging'),
  TEMPLATES_ADDR: fields.optional(
    fields.serviceAddress(
      'templates',
      '; without it templates are not checked when a broadcast is created',
    ),
  ),
  BROADCAST_WAITING_MAX: fields.integer(
    { min: 1, max: 100_000, default: 2_000 },
    'pending, scheduled and paused broadcasts of one partner, and those that wait for approval; further ones are refused with QUOTA_EXCEEDED',
  ),
  BROADCAST_SHARE_PERCENT: fields.integer(
    { min: 1, max: 100, default: 99 },
    'part of a number’s rate that broadcasts use while the partner sends nothing else on it',
  ),
  BROADCAST_GRACE_MS: fields.integer(
    { min: 1_000, max: 600_000, default: 20_000 },
    'how long to wait for a status event when the answer to a send was lost',
  ),
  BROADCAST_LEASE_MS: fields.integer(
    { min: 1_000, max: 120_000, default: 10_000 },
    'how long contacts stay with an unresponsive worker',
  ),
};

export type Config = Loaded<typeof settings>['config'];
