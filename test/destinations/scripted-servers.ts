// Servers of the four kinds of destination that a test scripts byte by byte: each answers the
// client library correctly, and the test may change, delay or drop each answer.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { DestinationType } from '@bmg/common/destinations';

/** What the server has stored, and how many events each request had. */
export interface Stored {
  ids: string[];
  requests: number[];
}

/** The answers to the bytes of a client, in the order of its requests. */
type Session = (bytes: Buffer) => Buffer[];
interface Script {
  settings(port: number, tls: boolean): object;
  session(stored: Stored, options: { port: number; refuse: boolean }): Session;
}

export const int = (bytes: 1 | 2 | 4, value: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};
const zeros = (bytes: number): Buffer => Buffer.alloc(bytes);

/**
 * Cuts complete messages off the bytes received; `lengthOf` is undefined while too few are there.
 */
function messages(lengthOf: (bytes: Buffer) => number | undefined): (bytes: Buffer) => Buffer[] {
  let rest = zeros(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const complete: Buffer[] = [];
    for (;;) {
      const length = lengthOf(rest);
      if (length === undefined || rest.length < length) return complete;
      complete.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}

const kafkaString = (text: string): Buffer =>
  Buffer.concat([int(2, text.length), Buffer.from(text)]);
const list = (...items: Buffer[]): Buffer => Buffer.concat([int(4, items.length), ...items]);
const TOPIC = 'events';
const UNKNOWN_TOPIC = 3;
const KAFKA_VERSIONS: Readonly<Record<number, number>> = { 0: 3, 2: 1, 3: 1, 18: 2 };

/** The answer to a request of an API, in the version that KAFKA_VERSIONS offers. */
function kafkaAnswer(api: number, port: number, error: number): Buffer {
  if (api === 18) {
    const apis = Object.entries(KAFKA_VERSIONS).map(([key, version]) =>
      Buffer.concat([int(2, Number(key)), int(2, 0), int(2, version)]),
    );
    return Buffer.concat([int(2, 0), list(...apis), int(4, 0)]);
  }
  if (api === 3) {
    const broker = [int(4, 1), kafkaString('127.0.0.1'), int(4, port), int(2, -1)];
    const ones = list(int(4, 1));
    const partition = [int(2, 0), int(4, 0), int(4, 1), ones, ones];
    const topic = [int(2, 0), kafkaString(TOPIC), int(1, 0), list(Buffer.concat(partition))];
    return Buffer.concat([list(Buffer.concat(broker)), int(4, 1), list(Buffer.concat(topic))]);
  }
  const partition = Buffer.concat([int(4, 0), int(2, error), zeros(16)]);
  const topics = list(Buffer.concat([kafkaString(TOPIC), list(partition)]));
  return api === 0 ? Buffer.concat([topics, int(4, 0)]) : topics;
}

const kafka: Script = {
  settings: (port, tls) => ({ brokers: [`localhost:${port}`], topic: TOPIC, tls }),
  session(stored, { port, refuse }) {
    const requests = messages((bytes) => (bytes.length < 4 ? undefined : 4 + bytes.readInt32BE(0)));
    return (bytes) =>
      requests(bytes).map((request) => {
        const api = request.readInt16BE(4);
        if (api === 0 && !refuse) {
          store(stored, idsIn(request, /webhook-id.(evt_\w+)/gs));
        }
        const answer = kafkaAnswer(api, port, refuse ? UNKNOWN_TOPIC : 0);
        return Buffer.concat([int(4, 4 + answer.length), request.subarray(8, 12), answer]);
      });
  },
};

const idsIn = (bytes: Buffer, pattern: RegExp): string[] =>
  [...bytes.toString('latin1').matchAll(pattern)].map(([, id = '']) => id);

function store(stored: Stored, ids: string[]): void {
  stored.ids.push(...ids);
  stored.requests.push(ids.length);
}

const FRAME_HEAD_BYTES = 7;
export const amqpMethod = (channel: number, ids: [number, number], ...args: Buffer[]): Buffer => {
  const payload = Buffer.concat([int(2, ids[0]), int(2, ids[1]), ...args]);
  const end = Buffer.from([0xce]);
  return Buffer.concat([int(1, 1), int(2, channel), int(4, payload.length), payload, end]);
};
const longString = (text: string): Buffer =>
  Buffer.concat([int(4, text.length), Buffer.from(text)]);
export const AMQP_ANSWERS = {
  '10.11': amqpMethod(0, [10, 30], zeros(2), int(4, 131_072), zeros(2)),
  '10.40': amqpMethod(0, [10, 41], zeros(1)),
  '10.50': amqpMethod(0, [10, 51]),
  '20.10': amqpMethod(1, [20, 11], zeros(4)),
  '85.10': amqpMethod(1, [85, 11]),
  '50.10': amqpMethod(1, [50, 11], int(1, 6), Buffer.from('events'), zeros(8)),
};
export type AmqpMethod = keyof typeof AMQP_ANSWERS;
export const AMQP_START = amqpMethod(
  0,
  [10, 10],
  Buffer.from([0, 9, 0, 0, 0, 0]),
  longString('PLAIN'),
  longString('en_US'),
);
const PROTOCOL_HEADER_BYTES = 8;

const amqp: Script = {
  settings: (port, tls) => ({
    ...{ host: 'localhost', port, tls },
    ...{ username: 'u', password: 'p', routing_key: TOPIC },
  }),
  session(stored, { refuse }) {
    let isStarted = false;
    let tag = 0;
    let left_bytes = 0;
    const frames = messages((bytes) => {
      if (!isStarted)
        return bytes.length < PROTOCOL_HEADER_BYTES ? undefined : PROTOCOL_HEADER_BYTES;
      return bytes.length < FRAME_HEAD_BYTES
        ? undefined
        : bytes.readUInt32BE(3) + FRAME_HEAD_BYTES + 1;
    });
    const confirm = (): Buffer[] => {
      tag += 1;
      return [amqpMethod(1, [60, refuse ? 120 : 80], zeros(4), int(4, tag), zeros(1))];
    };
    const answer = (frame: Buffer): Buffer[] => {
      if (frame.subarray(0, 4).toString() === 'AMQP') return [AMQP_START];
      const type = frame.readUInt8(0);
      if (type === 1) {
        const method = `${frame.readUInt16BE(7)}.${frame.readUInt16BE(9)}`;
        return method in AMQP_ANSWERS ? [AMQP_ANSWERS[method as AmqpMethod]] : [];
      }
      if (type === 2) {
        left_bytes = Number(frame.readBigUInt64BE(11));
        if (!refuse) store(stored, idsIn(frame, /webhook-idS.{4}(evt_\w+)/gs));
      } else if (type === 3) left_bytes -= frame.readUInt32BE(3);
      else return [];
      return left_bytes === 0 ? confirm() : [];
    };
    return (bytes) =>
      frames(bytes).flatMap((frame) => {
        isStarted = true;
        return answer(frame);
      });
  },
};

const http = (answer: (head: string, body: string) => [status: number, body: string]) => {
  const requests = messages((bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0;
    return end + 4 + Number(length);
  });
  return (bytes: Buffer): Buffer[] =>
    requests(bytes).map((request) => {
      const end = request.indexOf('\r\n\r\n') + 4;
      const [status, body] = answer(
        request.toString('latin1', 0, end),
        request.toString('utf8', end),
      );
      return Buffer.from(
        `HTTP/1.1 ${status} X\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
};

const keys = { access_key_id: 'id', secret_access_key: 'hidden-1' };
interface Entry {
  Id: string;
  MessageBody: string;
  MessageAttributes: { 'webhook-id': { StringValue: string } };
}

const sqs: Script = {
  settings: (port, tls) => ({
    queue_url: `http${tls ? 's' : ''}://localhost:${port}/1/events`,
    ...keys,
  }),
  session: (stored, { refuse }) =>
    http((_head, body) => {
      if (refuse) return [400, '{"__type":"com.amazonaws.sqs#QueueDoesNotExist"}'];
      const { Entries } = JSON.parse(body) as { Entries?: Entry[] };
      if (Entries === undefined) return [200, '{"Attributes":{"QueueArn":"arn"}}'];
      store(
        stored,
        Entries.map((one) => one.MessageAttributes['webhook-id'].StringValue),
      );
      const Successful = Entries.map(({ Id, MessageBody }) => ({
        Id,
        MessageId: Id,
        MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
      }));
      return [200, JSON.stringify({ Successful, Failed: [] })];
    }),
};

const s3: Script = {
  settings: (port, tls) => ({
    endpoint: `http${tls ? 's' : ''}://localhost:${port}`,
    bucket: TOPIC,
    ...keys,
  }),
  session: (stored, { refuse }) =>
    http((head, body) => {
      if (refuse) return [404, '<Error><Code>NoSuchBucket</Code></Error>'];
      if (head.includes('.ndjson'))
        store(stored, idsIn(Buffer.from(body), /"event_id":"(evt_\w+)"/g));
      return [200, ''];
    }),
};

export const SCRIPTS: Readonly<Record<DestinationType, Script>> = { kafka, amqp, sqs, s3 };

/** Sends an answer on; `step` counts the answers of the server. */
export type Deliver = (answer: Buffer, socket: Socket, step: number) => void;
export const DELIVER: Deliver = (answer, socket) => void socket.write(answer);

export type ScriptedServer = Awaited<ReturnType<typeof startScripted>>;

export interface ScriptedServerOptions {
  deliver?: Deliver;
  refuse?: boolean;
  tls?: { key: string; cert: string };
  port?: number;
  stored?: Stored;
}

export async function startScripted(
  type: DestinationType,
  {
    deliver = DELIVER,
    refuse = false,
    tls,
    port: wanted = 0,
    stored = { ids: [], requests: [] },
  }: ScriptedServerOptions = {},
) {
  const sockets = new Set<Socket>();
  let port = wanted;
  let step = 0;
  const serve = (socket: Socket): void => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    const session = SCRIPTS[type].session(stored, { port, refuse });
    socket.on('data', (bytes) => {
      for (const answer of session(bytes)) deliver(answer, socket, step++);
    });
  };
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on('tlsClientError', () => undefined);
  server.listen(port, 'localhost');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  return {
    port,
    stored,
    settings: SCRIPTS[type].settings(port, tls !== undefined),
    close(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
