// Builds the limits of a replica: rate limits, and bounds on concurrent work and memory.
import { createRefusals } from '@bmg/common/overload';
import type { RedisConnection } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';
import { createBucket } from './bucket';
import { createLoad, REFUSALS_AT_ONCE } from './load';
import { CONNECT_LIMIT, createNetworkLimit, LOGIN_LIMIT } from './network-limit';

export type Limits = ReturnType<typeof wireLimits>;

export const wireLimits = (
  { REQUESTS_IN_FLIGHT_MAX }: { REQUESTS_IN_FLIGHT_MAX: number },
  redis: RedisConnection,
  log: Logger,
) => ({
  load: createLoad(REQUESTS_IN_FLIGHT_MAX, log),
  bucket: createBucket(redis, log),
  refusals: createRefusals(REFUSALS_AT_ONCE),
  /** Requests of a network to the sign-up page. */
  visits: createNetworkLimit(redis, CONNECT_LIMIT),
  logins: createNetworkLimit(redis, LOGIN_LIMIT),
});
