// A RabbitMQ with TLS and a user, and a reader of its queue.
import { connect, type ConsumeMessage } from 'amqplib';
import { eventually } from '../testkit/eventually';
import { PASSWORD, START_LIMIT_MS, startRabbitMq, USERNAME } from './rabbitmq';
import { WRONG, type DestinationServer, type StoredEvent } from './server';

const EXCHANGE = 'partner.events';
const QUEUE = 'partner-events';

export async function startAmqpServer(): Promise<DestinationServer> {
  const server = await startRabbitMq();
  const stored: StoredEvent[] = [];
  /** Reads until the connection breaks. */
  const read = async (): Promise<void> => {
    const connection = await connect({
      port: server.port,
      username: USERNAME,
      password: PASSWORD,
    });
    connection.on('error', () => undefined);
    const channel = await connection.createChannel();
    await channel.assertExchange(EXCHANGE, 'topic', { durable: true });
    await channel.assertQueue(QUEUE, { durable: true });
    await channel.bindQueue(QUEUE, EXCHANGE, 'bmg.#');
    const take = (message: ConsumeMessage | null): void => {
      if (message === null) return;
      const { messageId } = message.properties;
      const key = message.fields.routingKey;
      stored.push({ event_id: String(messageId), raw: message.content.toString(), key });
      channel.ack(message);
    };
    await channel.consume(QUEUE, take);
  };
  await read();
  return {
    type: 'amqp',
    settings: {
      host: 'localhost',
      port: server.port_tls,
      ca: server.ca,
      username: USERNAME,
      password: PASSWORD,
      exchange: EXCHANGE,
      routing_key: 'bmg.{event}',
    },
    credential: PASSWORD,
    faults: [['a wrong password', { password: WRONG }, 'password']],
    stored,
    keeps_repetitions: true,
    hang: () => server.signal('SIGSTOP'),
    goOn: () => server.signal('SIGCONT'),
    async interrupt() {
      await server.kill();
      await server.start();
      await eventually(() => read().then(() => true), START_LIMIT_MS);
    },
    stop: () => server.stop(),
  };
}
