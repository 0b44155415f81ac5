// A partner's exchange on a real RabbitMQ, and what it refuses. It hangs and is killed in
// endpoints.long.test.ts.
import { connect, type ChannelModel, type ConsumeMessage } from 'amqplib';
import { DestinationError } from '@bmg/common/destinations';
import type { Destination, DestinationGuard } from '@bmg/destinations/kinds/destination';
import { openDestination } from '@bmg/destinations/kinds/kinds';
import { testEvents } from '../testkit/destination-events';
import { eventually } from '../testkit/eventually';
import {
  INSTALL_LIMIT_MS,
  PASSWORD,
  rabbitMqMissing,
  START_LIMIT_MS,
  startRabbitMq,
  USERNAME,
  type RabbitMq,
} from './rabbitmq';

const QUEUE = 'events';
const EXCHANGE = 'partner.events';

const missing = rabbitMqMissing();
if (missing !== undefined) process.stderr.write(`RabbitMQ: skipped, because ${missing}\n`);

(missing === undefined ? describe : describe.skip)('a destination at RabbitMQ', () => {
  let server: RabbitMq;
  let admin: ChannelModel;
  const opened: Destination[] = [];

  beforeAll(async () => {
    server = await startRabbitMq();
    admin = await connect({ port: server.port, username: USERNAME, password: PASSWORD });
    admin.on('error', () => undefined);
    const channel = await admin.createChannel();
    await channel.assertQueue(QUEUE, { durable: true });
    await channel.assertExchange(EXCHANGE, 'topic', { durable: true });
    await channel.assertQueue('received', { durable: true });
    await channel.bindQueue('received', EXCHANGE, 'bmg.message.received');
    await channel.close();
  }, INSTALL_LIMIT_MS + START_LIMIT_MS);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });
  afterAll(async () => {
    await admin?.close().catch(() => undefined);
    await server?.stop();
  });

  async function open(
    settings: Record<string, unknown> = {},
    guard: Partial<DestinationGuard> = {},
  ): Promise<Destination> {
    const all = {
      host: 'localhost',
      port: server.port_tls,
      ca: server.ca,
      username: USERNAME,
      password: PASSWORD,
      routing_key: QUEUE,
      ...settings,
    };
    const destination = await openDestination('amqp', all, { allowPrivate: true, ...guard });
    opened.push(destination);
    return destination;
  }

  /** Takes all messages of a queue until the condition holds. */
  async function takeUntil(
    queue: string,
    condition: (messages: ConsumeMessage[]) => boolean,
  ): Promise<ConsumeMessage[]> {
    const messages: ConsumeMessage[] = [];
    const channel = await admin.createChannel();
    const take = (message: ConsumeMessage | null): void => {
      if (message === null) return;
      messages.push(message);
      channel.ack(message);
    };
    await channel.consume(queue, take);
    await eventually(() => condition(messages));
    await channel.close();
    return messages;
  }

  test('stores the envelope, persistent, with its id and the event, over TLS', async () => {
    const destination = await open();
    await destination.check();
    const events = testEvents('shape', 40);
    expect(await destination.send(events)).toEqual(events.map(() => ({ ok: true })));
    const stored = await takeUntil(QUEUE, (messages) => messages.length === events.length);
    for (const { event_id, event, body } of events) {
      const message = stored.find((one) => one.properties.messageId === event_id);
      expect(message?.content.equals(body)).toBe(true);
      expect(message?.properties).toMatchObject({
        headers: { 'webhook-id': event_id },
        type: event,
        contentType: 'application/json',
        deliveryMode: 2,
      });
    }
  });

  test('routes by the name of the event; without a queue for it, an event is not confirmed', async () => {
    const destination = await open({ exchange: EXCHANGE, routing_key: 'bmg.{event}' });
    await destination.check();
    const events = testEvents('route', 3);
    const [, other] = events;
    if (other) other.event = 'message.failed';
    expect(await destination.send(events)).toEqual([
      { ok: true },
      { ok: false, error: 'no queue for the routing key', permanent: false },
      { ok: true },
    ]);
    await takeUntil('received', (messages) => messages.length === 2);
  });

  const FAULTS: [
    name: string,
    settings: Record<string, unknown>,
    guard: Partial<DestinationGuard>,
    setting: string,
    error: string,
  ][] = [
    [
      'a missing queue',
      { routing_key: 'missing' },
      {},
      'routing_key',
      'no queue for the routing key',
    ],
    ['a missing exchange', { exchange: 'missing' }, {}, 'exchange', 'no such exchange'],
    ['a wrong password', { password: 'battery-staple' }, {}, 'password', 'credentials refused'],
    ['a missing virtual host', { vhost: 'missing' }, {}, 'vhost', 'vhost refused'],
    ['a port without a server', { port: 1_023 }, {}, 'host', 'refused'],
    ['a private address', {}, { allowPrivate: false }, 'host', 'url_refused'],
    [
      'a name that leads to a forbidden address',
      { host: 'mq.example.com' },
      { resolve: async () => [{ address: '169.254.169.254', family: 4 }] },
      'host',
      'url_refused',
    ],
  ];
  test.each(FAULTS)('reports %s', async (_name, settings, guard, setting, error) => {
    const destination = await open(settings, guard);
    const fault = await destination.check().catch((one: unknown) => one);
    expect(fault).toBeInstanceOf(DestinationError);
    expect(fault).toMatchObject({ setting });
    expect(String(fault)).not.toMatch(/battery-staple|correct-horse|169\.254/);
    expect(await destination.send(testEvents('fault', 1))).toEqual([
      { ok: false, error, permanent: false },
    ]);
  });

  test('an event larger than the server takes is refused for good, and the others are stored', async () => {
    const destination = await open();
    const events = testEvents('sizes', 4);
    const [, large] = events;
    if (large) large.body = Buffer.alloc(100 * 1024, 'x');
    expect(await destination.send(events)).toEqual([
      { ok: true },
      { ok: false, error: 'event refused by the server', permanent: true },
      { ok: true },
      { ok: true },
    ]);
    await takeUntil(QUEUE, (messages) => messages.length >= 3);
  });
});
