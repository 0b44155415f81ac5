import { fields, type Field, type Loaded } from '@bmg/common/config';
import { fileSettings } from '@bmg/common/files';

export const settings = {
  ...fields.grpcServer(50053),
  METRICS_PORT: fields.port(9103, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.mongo,
  ...fields.kafka,
  ...fields.redis,
  ...fields.upstream,
  UPSTREAM_APP_ID: fields.optional(
    fields.text('app under which header samples are uploaded; without it they are not configured'),
  ) as Field<string | undefined>,
  ...fileSettings,
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
  ALLOW_PRIVATE_URLS: fields.flag(
    'lets partner-given URLs be http and private: for local work',
    false,
  ),
};

export type Config = Loaded<typeof settings>['config'];
