// The composition root: opens things, wires them, returns components in the order of their start.
import type { Loaded } from '@bmg/common/config';
import type { Service } from '@bmg/common/lifecycle';
import { createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { createRpcClient, createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { createCredentials } from '@bmg/common/directory';
import { createUpstream } from '@bmg/common/upstream';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { settings } from './config';
import { createNumberAdminHandlers } from './handlers';

export interface NumberAdminService extends Service {
  /** The port that gRPC listens on; known once started. */
  port(): number;
}

export function createNumberAdmin({
  config,
  warnings,
}: Loaded<typeof settings>): NumberAdminService {
  const log = createLogger('number-admin');
  const redis = openRedis(config, log);
  const upstream = createUpstream(config);
  const directory = createRpcClient(DirectoryDefinition, config.ONBOARDING_ADDR);
  const handlers = createNumberAdminHandlers({
    upstream,
    credentials: createCredentials(directory.rpc, createVersions(redis, log)),
    directory: directory.rpc,
    platform_pin: config.PLATFORM_PIN,
    log,
  });
  const rpc = createRpcServer(
    { host: config.GRPC_HOST, port: config.GRPC_PORT },
    [implement(NumberAdminDefinition, handlers)],
    log,
  );
  return {
    name: 'number-admin',
    components: [redis, upstream, directory, rpc],
    metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
    onReady: (ready) => rpc.health.set(ready),
    stop_timeout_ms: config.STOP_TIMEOUT_MS,
    drain_ms: config.DRAIN_MS,
    warnings,
    port: () => rpc.port,
  };
}
