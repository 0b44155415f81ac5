import { fields, type Loaded } from '@bmg/common/config';
import { CONNECTORS_MAX } from './connectors/connectors';

/** The documentation of the service's environment. */
export const settings = {
  ...fields.grpcServer(50057),
  METRICS_PORT: fields.port(9108, 'port of /metrics, /livez and /readyz'),
  ...fields.shared,
  ALLOW_PRIVATE_URLS: fields.flag(
    'lets partners’ servers have private addresses and no TLS: for local work',
    false,
  ),
  CONNECTORS_MAX: fields.integer(
    { min: 1, max: 64, default: CONNECTORS_MAX },
    'connector processes at a time, one for each partner with destinations; each may use 192 MiB',
  ),
};

export type Config = Loaded<typeof settings>['config'];
