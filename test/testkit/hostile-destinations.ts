// Servers that pretend to be a partner's Kafka, RabbitMQ or S3, and break the protocol where it
// hurts a careless client most. Each listens on 127.0.0.1 and a free port.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

export interface HostileServer {
  name: string;
  /** The destination that a partner gives. */
  destinationAt(port: number): object;
  serve(socket: Socket): void;
}

export async function listen({ serve }: HostileServer): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const CHUNK = Buffer.alloc(64 * 1024);
/** Bounds what a server streams, whatever its client reads. */
const STREAM_MAX_CHUNKS = 8_192;

function stream(socket: Socket): void {
  let left = STREAM_MAX_CHUNKS;
  const write = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= 1;
      if (!socket.write(CHUNK)) return void socket.once('drain', write);
    }
  };
  write();
}

const int16 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, at) => bytes.writeInt16BE(value, 2 * at));
  return bytes;
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const kafkaAt =
  (more: object = {}) =>
  (port: number): object => ({
    type: 'kafka',
    brokers: [`127.0.0.1:${port}`],
    topic: 'events',
    tls: false,
    ...more,
  });

const API_VERSIONS = 18;
const SASL_HANDSHAKE = 17;
const MECHANISM = 'SCRAM-SHA-256';
const API_KEYS = [3, SASL_HANDSHAKE, API_VERSIONS, 36];

/** Answers a client up to SCRAM's first message, which demands 2^31-1 iterations. */
function serveScram(socket: Socket): void {
  socket.on('data', (request) => {
    const key = request.readInt16BE(4);
    const answer = (body: Buffer): void => {
      socket.write(Buffer.concat([int32(body.length + 4), request.subarray(8, 12), body]));
    };
    if (key === API_VERSIONS) {
      const keys = API_KEYS.map((one) => int16(one, 0, 1));
      answer(Buffer.concat([int16(0), int32(keys.length), ...keys, int32(0)]));
    } else if (key === SASL_HANDSHAKE) {
      const name = Buffer.from(MECHANISM);
      answer(Buffer.concat([int16(0), int32(1), int16(name.length), name]));
    } else {
      const nonce = /r=([^,]+)/.exec(request.toString('latin1'))?.[1] ?? '';
      const first = Buffer.from(
        `r=${nonce}x,s=${Buffer.alloc(16).toString('base64')},i=2147483647`,
      );
      answer(Buffer.concat([int16(0, -1), int32(first.length), first, Buffer.alloc(8)]));
    }
  });
}

const amqpAt = (port: number): object => ({
  type: 'amqp',
  host: '127.0.0.1',
  port,
  tls: false,
  username: 'u',
  password: 'p',
  routing_key: 'events',
});

const METHOD = 1;
const HEADER = 2;
const BODY = 3;
const FRAME_END = Buffer.from([0xce]);

const frame = (type: number, channel: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type]), int16(channel), int32(payload.length), payload, FRAME_END]);
const method = (channel: number, ids: [number, number], ...args: Buffer[]): Buffer =>
  frame(METHOD, channel, Buffer.concat([int16(...ids), ...args]));
const longString = (text: string): Buffer => Buffer.concat([int32(text.length), Buffer.from(text)]);
const shortString = (text: string): Buffer =>
  Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);

const START = method(
  0,
  [10, 10],
  Buffer.from([0, 9]),
  int32(0),
  longString('PLAIN'),
  longString('en_US'),
);
const CHANNEL_IS_OPEN = [
  START,
  method(0, [10, 30], int16(0), int32(131_072), int16(0)),
  method(0, [10, 41], shortString('')),
  method(1, [20, 11], longString('')),
];
const CONFIRMS = method(1, [85, 11]);
const QUEUE_EXISTS = method(1, [50, 11], shortString('events'), int32(0), int32(0));

/** Answers each piece that a client sends with the next step; the last one repeats. */
const serveAmqp =
  (steps: Array<Buffer | ((socket: Socket) => void)>) =>
  (socket: Socket): void => {
    let at = 0;
    socket.on('data', () => {
      const step = steps[Math.min(at, steps.length - 1)];
      at += 1;
      if (typeof step === 'function') step(socket);
      else if (step !== undefined) socket.write(step);
    });
  };

function returnEndlessMessage(socket: Socket): void {
  const text = [shortString('NO_ROUTE'), shortString(''), shortString('events')];
  socket.write(method(1, [60, 50], int16(312), ...text));
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(2n ** 40n);
  socket.write(frame(HEADER, 1, Buffer.concat([int16(60, 0), size, int16(0)])));
  const body = frame(BODY, 1, CHUNK);
  let left = STREAM_MAX_CHUNKS;
  const write = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= 1;
      if (!socket.write(body)) return void socket.once('drain', write);
    }
  };
  write();
}

const ack = (tag: bigint): Buffer => {
  const bytes = Buffer.alloc(9);
  bytes.writeBigUInt64BE(tag);
  return method(1, [60, 80], bytes);
};

const XML = Buffer.from(`<?xml version="1.0"?>${'<!DOCTYPE '.repeat(26_000)}`);

export const HOSTILE_SERVERS: HostileServer[] = [
  {
    name: 'Kafka that answers with four zero bytes',
    destinationAt: kafkaAt(),
    serve: (socket) => void socket.on('data', () => socket.write(int32(0))),
  },
  {
    name: 'Kafka that announces and streams an answer of 2 GiB',
    destinationAt: kafkaAt(),
    serve: (socket) =>
      void socket.once('data', () => {
        socket.write(int32(2_147_483_647));
        stream(socket);
      }),
  },
  {
    name: 'Kafka that demands 2^31-1 iterations of SCRAM',
    destinationAt: kafkaAt({ mechanism: 'scram-sha-256', username: 'u', password: 'p' }),
    serve: serveScram,
  },
  {
    name: 'RabbitMQ that ends the connection before the channel confirms',
    destinationAt: amqpAt,
    serve: serveAmqp([...CHANNEL_IS_OPEN, (socket) => socket.destroy()]),
  },
  {
    name: 'RabbitMQ that returns a message of 2^40 bytes',
    destinationAt: amqpAt,
    serve: serveAmqp([...CHANNEL_IS_OPEN, CONFIRMS, returnEndlessMessage]),
  },
  {
    name: 'RabbitMQ that confirms tags which were never published',
    destinationAt: amqpAt,
    serve: serveAmqp([
      ...CHANNEL_IS_OPEN,
      CONFIRMS,
      QUEUE_EXISTS,
      (socket) => void socket.write(Buffer.concat([ack(4_294_967_200n), ack(1n)])),
    ]),
  },
  {
    name: 'S3 that answers with 256 KiB of document types',
    destinationAt: (port) => ({
      type: 's3',
      endpoint: `http://127.0.0.1:${port}`,
      bucket: 'events',
      access_key_id: 'id',
      secret_access_key: 'secret',
    }),
    serve: (socket) =>
      void socket.once('data', () => {
        const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/xml\r\nContent-Length: ${XML.length}\r\n\r\n`;
        socket.end(Buffer.concat([Buffer.from(head), XML]));
      }),
  },
];
