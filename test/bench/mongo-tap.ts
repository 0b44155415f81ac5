// Counts the messages sent to a MongoDB server: a relay that reads only the length of each
// wire-protocol message.
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '@bmg/local';
import { joinSockets } from '../testkit/join-sockets';

const HOST = '127.0.0.1';
const LENGTH_BYTES = 4;

export interface MongoTap {
  url: string;
  /** Messages so far, including the driver's heartbeats. */
  messages(): number;
  close(): Promise<void>;
}

export async function tapMongo(mongo_url: string): Promise<MongoTap> {
  const { hostname, port } = new URL(mongo_url);
  const here = await freePort();
  const sockets = new Set<Socket>();
  let messages = 0;
  const server = createServer((client) => {
    client.on(
      'data',
      messageCounter(() => (messages += 1)),
    );
    joinSockets(client, connect(Number(port), hostname), sockets);
  });
  await new Promise<void>((resolve) => server.listen(here, HOST, resolve));
  const url = new URL(mongo_url);
  url.hostname = HOST;
  url.port = String(here);
  return {
    url: url.href,
    messages: () => messages,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Every message starts with its length in bytes: a little-endian int32. */
function messageCounter(found: () => void): (chunk: Buffer) => void {
  let head = Buffer.alloc(0);
  let left = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const part = Math.min(left, chunk.length - at);
        left -= part;
        at += part;
        continue;
      }
      const part = chunk.subarray(at, at + LENGTH_BYTES - head.length);
      head = Buffer.concat([head, part]);
      at += part.length;
      if (head.length < LENGTH_BYTES) return;
      left = head.readInt32LE(0) - LENGTH_BYTES;
      head = Buffer.alloc(0);
      found();
    }
  };
}
