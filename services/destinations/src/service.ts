// The composition root: the connectors, and the RPCs that hand work to them.
import { implement } from '@bmg/common/rpc';
import { defineService, type Kit } from '@bmg/common/service';
import { DestinationsDefinition } from '@bmg/proto/destinations';
import type { Config } from './config';
import { Connectors } from './connectors/connectors';
import { REQUEST_MAX_BYTES } from './connectors/frames';
import { spawnConnector } from './connectors/spawn';
import { createDestinationsHandlers } from './handlers';

export const createDestinations = defineService({
  name: 'destinations',
  message_limit_bytes: REQUEST_MAX_BYTES,
  open: ({ config, log, use }: Kit<Config>) =>
    use(
      new Connectors({
        spawn: () => spawnConnector(config.ALLOW_PRIVATE_URLS),
        connectors_max: config.CONNECTORS_MAX,
        log,
      }),
    ),
  features: [
    (connectors) => ({
      rpcs: [implement(DestinationsDefinition, createDestinationsHandlers(connectors))],
    }),
  ],
});
