import { fields, type Loaded } from '@bmg/common/config';

/** The service's settings; their descriptions become deploy/SETTINGS.md. */
export const settings = {
  METRICS_PORT: fields.port(9107, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.kafka,
  ...fields.redis,
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
  MESSAGING_ADDR: fields.optional(
    fields.serviceAddress(
      'messaging',
      '; without it fanout does not report the cost of a template in its new category',
    ),
  ),
  PUBLIC_URL: fields.url('address under which partners and browsers reach the gateway'),
};

export type Config = Loaded<typeof settings>['config'];
