// For a test file: RPC servers on free ports of this machine and their clients, stopped after each
// test.
import {
  createRpcClient,
  createRpcServer,
  implement,
  ownCall,
  type Call,
  type Definition,
} from '../src/rpc';
import { createLogger, unsampled } from '../src/telemetry';

export const HOST = '127.0.0.1';

export const call = (limit_ms = 60_000): Call => ownCall(unsampled(), limit_ms);

export function useRpc() {
  const open: Array<{ stop(): Promise<void> }> = [];
  afterEach(async () => {
    // Clients before their servers.
    for (const one of open.splice(0).reverse()) await one.stop();
  });
  return {
    async serve(definition: Definition, handlers: object, settings: object = {}) {
      const server = createRpcServer(
        { host: HOST, port: 0, ...settings },
        [implement(definition, handlers as never)],
        createLogger('test'),
      );
      server.health.set(true);
      await server.start(new AbortController().signal);
      open.push(server);
      return server;
    },
    client<D extends Definition>(definition: D, address: string, options?: { by_route: true }) {
      const client = createRpcClient(definition, address, options);
      open.push(client);
      return client.rpc;
    },
  };
}
