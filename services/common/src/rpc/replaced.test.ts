// Replaces the only replica that a client knows: the name leads to another address from then on.
import { promises as dns } from 'node:dns';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { call, useRpc } from '../../test/rpc';

const CALL_LIMIT_MS = 10_000;
/** Loopback has many addresses, and all replicas of a name have one port. */
const REPLICAS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

const { serve, client } = useRpc();
const startServer = (host: string, port: number) =>
  serve(
    MessagingDefinition,
    { sendText: async () => ({ message_id: host, contacts: [] }) },
    { host, port },
  );

test('a client finds the successor of a replica within its patience, time and again', async () => {
  let server = await startServer(REPLICAS[0] as string, 0);
  const { port } = server;
  let address = REPLICAS[0] as string;
  const lookup = jest
    .spyOn(dns, 'lookup')
    .mockImplementation((async () => [{ address, family: 4 }]) as never);
  const rpc = client(MessagingDefinition, `messaging.test:${port}`);
  const ask = () => rpc.sendText({ text: 'x' } as never, call(CALL_LIMIT_MS));
  try {
    for (const host of REPLICAS) {
      if (host !== address) {
        const next = await startServer(host, port);
        address = host;
        await server.stop();
        server = next;
      }
      expect((await ask()).message_id).toBe(host);
    }
  } finally {
    lookup.mockRestore();
  }
});
