import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { createLogger, unsampled } from '../telemetry';
import { createRpcClient, createRpcServer, implement, ownCall } from '.';

const HOST = '127.0.0.1';
const CHUNK = { mime_type: undefined, size_bytes: undefined, data: Buffer.alloc(64 * 1024) };

test('a stream has a connection of its own, so that answers do not wait behind its bytes', async () => {
  const log = createLogger('test');
  const server = createRpcServer(
    { host: HOST, port: 0 },
    [
      implement(MessagingDefinition, {
        sendText: async () => ({ message_id: 'wamid.1', contacts: [] }),
        async *downloadMedia() {
          for (;;) yield CHUNK;
        },
      } as never),
    ],
    log,
  );
  await server.start(new AbortController().signal);
  const sockets: Socket[] = [];
  const proxy = createServer((incoming) => {
    const outgoing = connect(server.port, HOST);
    sockets.push(incoming, outgoing);
    incoming.pipe(outgoing).pipe(incoming);
    for (const socket of [incoming, outgoing]) socket.on('error', () => socket.destroy());
  }).listen(0, HOST);
  await once(proxy, 'listening');
  const client = createRpcClient(
    MessagingDefinition,
    `${HOST}:${(proxy.address() as AddressInfo).port}`,
  );
  const ask = () => client.rpc.sendText({ text: 'x' } as never, ownCall(unsampled(), 5_000));
  await ask();
  const ended = new AbortController();
  const stream = client.rpc
    .downloadMedia({} as never, { ...ownCall(unsampled(), 20_000), signal: ended.signal })
    [Symbol.asyncIterator]();
  await stream.next();
  // From here on nothing of the stream gets through.
  const [, , of_stream] = sockets;
  of_stream?.pause();
  sockets[3]?.pause();
  expect(await ask()).toMatchObject({ message_id: 'wamid.1' });
  expect(sockets.length).toBe(4);
  ended.abort();
  for (const socket of sockets) socket.destroy();
  await stream.return?.(undefined).catch(() => undefined);
  await client.stop();
  await server.stop();
  proxy.close();
});
