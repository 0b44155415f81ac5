// An AMQP 0-9-1 exchange or queue of the partner (RabbitMQ): persistent messages, publisher
// confirms, and a message that reaches no queue is a failure.
import { DestinationError, type AmqpSettings } from '@bmg/common/destinations';
import { ConnectFailed, failureOf, type OutboundFailure } from '@bmg/common/outbound';
import { openConnection, type Connection } from './connection';
import {
  EventRefused,
  SendFailed,
  SENT,
  refused,
  unreachable,
  unsent,
  within,
  type Destination,
  type DestinationEvent,
  type DestinationGuard,
  type Sent,
  type Times,
} from '../destination';
import { createGatherer } from '../gatherer';

/** RabbitMQ's default since version 4. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024;
const BATCH_EVENTS_MAX = 500;
const ROUTING_KEY_MAX_BYTES = 255;

const ACCESS_REFUSED = 403;
const NOT_FOUND = 404;
const PRECONDITION_FAILED = 406;

/** Opens no connection yet. */
export async function openAmqp(
  settings: AmqpSettings,
  guard: DestinationGuard,
  times: Times,
): Promise<Destination> {
  let opening: Promise<Connection> | undefined;

  const drop = (): void => {
    opening?.then((connection) => connection.end()).catch(() => undefined);
    opening = undefined;
  };
  const write = async (events: readonly DestinationEvent[]): Promise<Sent[]> => {
    let connection: Connection | undefined;
    try {
      connection = await (opening ??= openConnection(settings, guard, times));
      if (connection.fault !== null) {
        // It broke while no event was sent.
        drop();
        connection = await (opening = openConnection(settings, guard, times));
      }
      if (connection.frames.is_blocked) throw new SendFailed('server blocks publishers');
      const sent = await publishAll(connection, events, settings);
      if (connection.fault !== null) drop();
      return sent;
    } catch (error) {
      if (!connection?.frames.is_blocked) drop();
      throw sendError(error);
    }
  };
  const gatherer = createGatherer({
    limits: { events: BATCH_EVENTS_MAX, bytes: EVENT_BYTES_MAX, event_bytes: EVENT_BYTES_MAX },
    atomic: false,
    times,
    write,
    reset: drop,
  });

  return {
    send: gatherer.send,
    async check() {
      const checking = openConnection(settings, guard, times);
      try {
        await within(
          checking.then((one) => lookUp(one, settings)),
          times.check_ms,
        );
      } catch (error) {
        throw checkError(error, settings);
      } finally {
        checking.then((one) => one.end()).catch(() => undefined);
      }
    },
    async close() {
      await gatherer.drain();
      const connection = await opening?.catch(() => undefined);
      await connection?.close();
    },
  };
}

function publishAll(
  connection: Connection,
  events: readonly DestinationEvent[],
  settings: AmqpSettings,
): Promise<Sent[]> {
  // These are of the batch before; a server may also return messages of other ids.
  connection.returned.clear();
  return Promise.all(events.map((event) => publish(connection, event, settings)));
}

function publish(
  connection: Connection,
  { event_id, event, ordering_key = '', body, content_type, received_at_ms }: DestinationEvent,
  { exchange, routing_key }: AmqpSettings,
): Promise<Sent> {
  const names: Record<string, string> = { event, conversation: ordering_key };
  const key = routing_key.replace(/\{(event|conversation)\}/g, (_all, name: string) =>
    String(names[name]),
  );
  if (Buffer.byteLength(key) > ROUTING_KEY_MAX_BYTES) {
    return Promise.resolve(refused(`routing key longer than ${ROUTING_KEY_MAX_BYTES} bytes`));
  }
  const options = {
    mandatory: true,
    persistent: true,
    contentType: content_type,
    messageId: event_id,
    type: event,
    timestamp: Math.floor(received_at_ms / 1_000),
    headers: { 'webhook-id': event_id },
  };
  return new Promise((resolve, reject) => {
    const confirmed = (error: unknown): void => {
      if (takeReturned(connection.returned, event_id))
        resolve(unsent('no queue for the routing key'));
      else if (error === null || error === undefined) resolve(SENT);
      // A closed channel is the server's answer to one of its messages, or a broken connection.
      else if (connection.fault !== null) reject(asError(connection.fault));
      else resolve(unsent('refused by the server'));
    };
    connection.frames.onPublish(body.length);
    connection.channel.publish(exchange, key, body, options, confirmed);
  });
}

function takeReturned(returned: Map<string, number>, id: string): boolean {
  const count = returned.get(id) ?? 0;
  if (count > 1) returned.set(id, count - 1);
  else returned.delete(id);
  return count > 0;
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new SendFailed('reset', { cause: error });

async function lookUp(
  connection: Connection,
  { exchange, routing_key }: AmqpSettings,
): Promise<void> {
  try {
    if (exchange !== '') await connection.channel.checkExchange(exchange);
    else if (!routing_key.includes('{')) await connection.channel.checkQueue(routing_key);
  } catch (error) {
    throw connection.fault ?? error;
  }
}

/** amqplib has the code of the server's answer in `code`, in a handshake only in the text. */
function answerCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code === 'number') return code;
  const inText = /^Handshake terminated by server: (\d{3})\b/.exec(error.message)?.[1];
  return inText === undefined ? undefined : Number(inText);
}

const isHandshake = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Handshake terminated by server');

/** amqplib shows the server's refusal to open the virtual host only as an unexpected frame. */
const VHOST_REFUSED = 'Expected ConnectionOpenOk; got <ConnectionClose';
const isVhostRefused = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith(VHOST_REFUSED);

function sendError(error: unknown): Error {
  if (error instanceof SendFailed || error instanceof ConnectFailed) return error;
  const code = answerCode(error);
  if (code === PRECONDITION_FAILED) return new EventRefused('event refused by the server');
  if (code === NOT_FOUND) return new SendFailed('no such exchange', { cause: error });
  if (code === ACCESS_REFUSED) {
    const text = isHandshake(error)
      ? 'credentials refused'
      : 'not allowed to write to the exchange';
    return new SendFailed(text, { cause: error });
  }
  if (isVhostRefused(error)) return new SendFailed('vhost refused', { cause: error });
  return new SendFailed(connectionFailure(error), { cause: error });
}

function checkError(error: unknown, { exchange }: AmqpSettings): DestinationError {
  const target = exchange === '' ? 'routing_key' : 'exchange';
  const code = answerCode(error);
  const cause = { cause: error };
  if (code === NOT_FOUND) {
    const problem = exchange === '' ? 'names a queue that does not exist' : 'does not exist';
    return new DestinationError(target, `${problem}: create it`, cause);
  }
  if (code === ACCESS_REFUSED && isHandshake(error)) {
    const problem = 'was refused by the server: check username and password';
    return new DestinationError('password', problem, cause);
  }
  if (code === ACCESS_REFUSED) {
    return new DestinationError(target, 'may not be written by this user: allow it', cause);
  }
  if (isVhostRefused(error)) {
    const problem = 'was refused by the server: check its name and the permissions of the user';
    return new DestinationError('vhost', problem, cause);
  }
  return unreachable('host', connectionFailure(error), error);
}

function connectionFailure(error: unknown): OutboundFailure {
  if (error instanceof SendFailed) return error.message === 'timeout' ? 'timeout' : 'reset';
  return failureOf(error) ?? 'reset';
}
