import { fields, type Loaded } from '@bmg/common/config';

export const settings = {
  ...fields.grpcServer(50055),
  METRICS_PORT: fields.port(9105, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ...fields.mongo,
  ...fields.redis,
  ...fields.upstream,
  ONBOARDING_ADDR: fields.serviceAddress('onboarding'),
  PLATFORM_PIN: fields.secret(
    'six digits: registers a number again when neither the request nor the store has a PIN',
    {
      pattern: '^[0-9]{6}$',
      insecure: '000000',
    },
  ),
};

export type Config = Loaded<typeof settings>['config'];
