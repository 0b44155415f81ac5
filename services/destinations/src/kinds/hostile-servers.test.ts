// Servers that break the protocol: the check of the settings fails, and the process goes on.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { DestinationError } from '@bmg/common/destinations';
import { openDestination } from './kinds';

const LIMIT_MS = 10_000;
const GUARD = { allowPrivate: true };

/** The settings that a check blames for a server with this behaviour. */
async function checkAgainst(
  serve: (socket: Socket) => void,
  settingsOf: (port: number) => ['kafka' | 'amqp', object],
): Promise<unknown> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const [type, settings] = settingsOf((server.address() as AddressInfo).port);
  const destination = await openDestination(type, settings, GUARD);
  try {
    return await destination.check(AbortSignal.timeout(LIMIT_MS)).catch((error: unknown) => error);
  } finally {
    await destination.close();
    server.close();
  }
}

const kafkaAt = (port: number): ['kafka', object] => [
  'kafka',
  { brokers: [`127.0.0.1:${port}`], topic: 'events', tls: false },
];

const frameHead = (length: number): Buffer => {
  const head = Buffer.alloc(4);
  head.writeInt32BE(length);
  return head;
};

test.each([
  ['an empty frame', 0, 'below 4 bytes'],
  ['a frame of three bytes', 3, 'below 4 bytes'],
  ['a frame of negative length', -2_147_483_648, 'below 4 bytes'],
  ['a frame of 2 GiB', 2_147_483_647, 'above 16 KiB'],
])('refuses a Kafka server that answers with %s', async (_name, length, problem) => {
  const answer = Buffer.concat([frameHead(length), Buffer.alloc(Math.min(Math.max(length, 0), 8))]);
  const error = await checkAgainst((socket) => {
    socket.on('data', () => socket.write(answer));
  }, kafkaAt);
  expect(error).toBeInstanceOf(DestinationError);
  expect(String(error)).toBe(
    `DestinationError: brokers names a server that broke the protocol: answered with a frame ${problem}`,
  );
});

const method = (channel: number, ids: [number, number], ...args: number[]): Buffer => {
  const frame = Buffer.alloc(7 + 4 + args.length + 1);
  frame.writeUInt8(1, 0);
  frame.writeUInt16BE(channel, 1);
  frame.writeUInt32BE(4 + args.length, 3);
  frame.writeUInt16BE(ids[0], 7);
  frame.writeUInt16BE(ids[1], 9);
  frame.set(args, 11);
  frame.writeUInt8(0xce, frame.length - 1);
  return frame;
};
const longString = (text: string): number[] => [0, 0, 0, text.length, ...Buffer.from(text)];

const START = method(0, [10, 10], 0, 9, 0, 0, 0, 0, ...longString('PLAIN'), ...longString('en_US'));
/** Answers to what a client sends, in its order: header, start-ok, tune-ok with open, channel.open. */
const UP_TO_CHANNEL = [
  START,
  method(0, [10, 30], 0, 0, 0, 2, 0, 0, 0, 0),
  method(0, [10, 41], 0),
  method(1, [20, 11], 0, 0, 0, 0),
];

test('survives a RabbitMQ connection that ends before the channel confirms', async () => {
  const error = await checkAgainst(
    (socket) => {
      const answers = [...UP_TO_CHANNEL];
      socket.on('data', () => {
        const answer = answers.shift();
        if (answer === undefined) socket.destroy();
        else socket.write(answer);
      });
    },
    (port) => [
      'amqp',
      { host: '127.0.0.1', port, tls: false, username: 'u', password: 'p', routing_key: 'events' },
    ],
  );
  expect(error).toBeInstanceOf(DestinationError);
  expect(error).toMatchObject({ setting: 'host' });
  expect(String(error)).toContain('breaks the connection');
});
