// The composition root: the connectors, and the RPCs that hand work to them.
import type { Loaded } from '@bmg/common/config';
import type { Service } from '@bmg/common/lifecycle';
import { createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { DestinationsDefinition } from '@bmg/proto/destinations';
import type { settings } from './config';
import { createConnectors } from './connectors/connectors';
import { REQUEST_MAX_BYTES } from './connectors/frames';
import { spawnConnector } from './connectors/spawn';
import { createDestinationsHandlers } from './handlers';

export function createDestinations({ config, warnings }: Loaded<typeof settings>): Service {
  const log = createLogger('destinations');
  const connectors = createConnectors({
    spawn: () => spawnConnector(config.ALLOW_PRIVATE_URLS),
    connectors_max: config.CONNECTORS_MAX,
    log,
  });
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT, message_limit_bytes: REQUEST_MAX_BYTES },
    [implement(DestinationsDefinition, createDestinationsHandlers(connectors))],
    log,
  );
  return {
    name: 'destinations',
    components: [connectors, rpc],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
  };
}
