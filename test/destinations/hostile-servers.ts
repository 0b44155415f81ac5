// Servers that pretend to be a partner's Kafka, RabbitMQ or S3, and crash, fill or occupy a
// careless client. Each listens on 127.0.0.1 and a free port.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { AMQP_ANSWERS, AMQP_START, int, type AmqpMethod } from './scripted-servers';

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

const kafkaAt =
  (more: object = {}) =>
  (port: number): object => ({
    ...{ type: 'kafka', brokers: [`127.0.0.1:${port}`], topic: 'events', tls: false },
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
    const answer = (...parts: Buffer[]): void => {
      const body = Buffer.concat(parts);
      socket.write(Buffer.concat([int(4, body.length + 4), request.subarray(8, 12), body]));
    };
    if (key === API_VERSIONS) {
      const keys = API_KEYS.flatMap((one) => [int(2, one), int(2, 0), int(2, 1)]);
      answer(int(2, 0), int(4, API_KEYS.length), ...keys, int(4, 0));
    } else if (key === SASL_HANDSHAKE) {
      answer(int(2, 0), int(4, 1), int(2, MECHANISM.length), Buffer.from(MECHANISM));
    } else {
      const nonce = /r=([^,]+)/.exec(request.toString('latin1'))?.[1] ?? '';
      const salt = Buffer.alloc(16).toString('base64');
      const first = Buffer.from(`r=${nonce}x,s=${salt},i=2147483647`);
      answer(int(2, 0), int(2, -1), int(4, first.length), first, Buffer.alloc(8));
    }
  });
}

/** Answers each piece that a client sends with the next step, and ends after the last one. */
function serveUntilChannel(socket: Socket): void {
  const methods: AmqpMethod[] = ['10.11', '10.40', '20.10'];
  const steps = [AMQP_START, ...methods.map((method) => AMQP_ANSWERS[method])];
  socket.on('data', () => {
    const step = steps.shift();
    if (step) socket.write(step);
    else socket.destroy();
  });
}

const XML = Buffer.from(`<?xml version="1.0"?>${'<!DOCTYPE '.repeat(26_000)}`);

/** An effect each: memory, CPU, a crash, and CPU again. The guards' unit tests have the others. */
export const HOSTILE_SERVERS: HostileServer[] = [
  {
    name: 'Kafka that announces and streams an answer of 2 GiB',
    destinationAt: kafkaAt(),
    serve: (socket) =>
      void socket.once('data', () => {
        socket.write(int(4, 2_147_483_647));
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
    destinationAt: (port) => ({
      ...{ type: 'amqp', host: '127.0.0.1', port, tls: false },
      ...{ username: 'u', password: 'p', routing_key: 'events' },
    }),
    serve: serveUntilChannel,
  },
  {
    name: 'S3 that answers with 256 KiB of document types',
    destinationAt: (port) => ({
      ...{ type: 's3', endpoint: `http://127.0.0.1:${port}`, bucket: 'events' },
      ...{ access_key_id: 'id', secret_access_key: 'secret' },
    }),
    serve: (socket) =>
      void socket.once('data', () => {
        const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/xml\r\nContent-Length: ${XML.length}\r\n\r\n`;
        socket.end(Buffer.concat([Buffer.from(head), XML]));
      }),
  },
];
