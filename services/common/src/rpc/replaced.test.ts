// Replaces the only replica that a client knows: the name leads to another address from then on.
import { promises as dns } from 'node:dns';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { createLogger, unsampled } from '../telemetry';
import { createRpcClient, createRpcServer, implement, ownCall, type Handlers } from '.';

const CALL_LIMIT_MS = 10_000;
/** Loopback has many addresses, and all replicas of a name have one port. */
const REPLICAS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

const log = createLogger('test');
log.level = 'silent';

async function startServer(host: string, port: number) {
  const sendText = async () => ({ message_id: host, contacts: [] });
  const handlers = { sendText } as never as Handlers<typeof MessagingDefinition>;
  const server = createRpcServer({ host, port }, [implement(MessagingDefinition, handlers)], log);
  await server.start(new AbortController().signal);
  return server;
}

test('a client finds the successor of a replica within its patience, time and again', async () => {
  let server = await startServer(REPLICAS[0] as string, 0);
  const { port } = server;
  let address = REPLICAS[0] as string;
  const lookup = jest
    .spyOn(dns, 'lookup')
    .mockImplementation((async () => [{ address, family: 4 }]) as never);
  const { rpc, stop } = createRpcClient(MessagingDefinition, `messaging.test:${port}`);
  const call = () => rpc.sendText({ text: 'x' } as never, ownCall(unsampled(), CALL_LIMIT_MS));
  try {
    for (const host of REPLICAS) {
      if (host !== address) {
        const next = await startServer(host, port);
        address = host;
        await server.stop();
        server = next;
      }
      expect((await call()).message_id).toBe(host);
    }
  } finally {
    await stop();
    await server.stop();
    lookup.mockRestore();
  }
});
