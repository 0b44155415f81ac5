import { connect, createServer, type Socket } from 'node:net';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { useLocalServers } from '../../test/local-servers';
import { call, HOST, useRpc } from '../../test/rpc';

const CHUNK = { mime_type: undefined, size_bytes: undefined, data: Buffer.alloc(64 * 1024) };

const { portOf } = useLocalServers();
const { serve, client } = useRpc();

test('a stream has a connection of its own, so that answers do not wait behind its bytes', async () => {
  const server = await serve(MessagingDefinition, {
    sendText: async () => ({ message_id: 'wamid.1', contacts: [] }),
    async *downloadMedia() {
      for (;;) yield CHUNK;
    },
  });
  const sockets: Socket[] = [];
  const proxy = createServer((incoming) => {
    const outgoing = connect(server.port, HOST);
    sockets.push(incoming, outgoing);
    incoming.pipe(outgoing).pipe(incoming);
    for (const socket of [incoming, outgoing]) socket.on('error', () => socket.destroy());
  });
  const rpc = client(MessagingDefinition, `${HOST}:${await portOf(proxy)}`);
  const ask = () => rpc.sendText({ text: 'x' } as never, call(5_000));
  await ask();
  const ended = new AbortController();
  const stream = rpc
    .downloadMedia({} as never, { ...call(20_000), signal: ended.signal })
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
});
