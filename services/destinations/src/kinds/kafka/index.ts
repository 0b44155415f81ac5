// A partner's Kafka topic. The key is the conversation, so that a partition has its events in
// order.
import type { Socket } from 'node:net';
import { DestinationError, type KafkaSettings } from '@bmg/common/destinations';
import { ConnectFailed, guardedSocket, ProtocolBroken } from '@bmg/common/outbound';
import type { Admin, KafkaConfig, SASLOptions } from 'kafkajs';
import {
  EventRefused,
  SendFailed,
  SENT,
  unreachable,
  within,
  type Destination,
  type DestinationEvent,
  type DestinationGuard,
  type Sent,
  type Times,
} from '../destination';
import { createGatherer } from '../gatherer';
import { createKafkaGuard, type KafkaGuard } from './guard';

/** Kafka's own default for a record batch is 1 MiB, framing, key and headers included. */
const EVENT_BYTES_MAX = 1_000_000;
const BATCH_EVENTS_MAX = 500;
const RETRY = { initialRetryTime: 100, maxRetryTime: 500 };

/** What a broker refuses because of one record. */
const RECORD_REFUSED: Readonly<Record<string, string>> = {
  MESSAGE_TOO_LARGE: 'event too large for the topic',
  INVALID_RECORD: 'event refused by the topic',
};
/** Errors of the protocol: the text for the failed list, and the setting to fix. */
const PROTOCOL: Readonly<Record<string, [text: string, setting: string, problem: string]>> = {
  UNKNOWN_TOPIC_OR_PARTITION: ['no such topic', 'topic', 'does not exist: create it'],
  TOPIC_AUTHORIZATION_FAILED: [
    'not allowed to write to the topic',
    'topic',
    'may not be described and written by this user: allow both',
  ],
  CLUSTER_AUTHORIZATION_FAILED: [
    'not allowed by the cluster',
    'username',
    'is not allowed by the cluster: allow it to write to the topic',
  ],
};
const CREDENTIALS_REFUSED = 'credentials refused';

/** Opens no connection yet. */
export async function openKafka(
  settings: KafkaSettings,
  guard: DestinationGuard,
  times: Times,
): Promise<Destination> {
  const { topic } = settings;
  let connection: Connection | undefined;

  const drop = (): void => {
    connection?.end();
    connection = undefined;
  };
  const write = async (events: readonly DestinationEvent[]): Promise<Sent[]> => {
    const mine = (connection ??= await connect(settings, guard, times));
    try {
      await mine.ready;
      const messages = records(events);
      await mine.producer.send({ topic, acks: -1, timeout: times.request_ms, messages });
      return events.map(() => SENT);
    } catch (error) {
      if (connection === mine) drop();
      throw sendError(error, mine.failure());
    }
  };
  const gatherer = createGatherer({
    limits: { events: BATCH_EVENTS_MAX, bytes: EVENT_BYTES_MAX, event_bytes: EVENT_BYTES_MAX },
    atomic: true,
    times,
    write,
    reset: drop,
  });

  return {
    send: gatherer.send,
    async check() {
      const { kafka, failure, endSockets } = await createClient(settings, guard, times);
      const admin = kafka.admin();
      try {
        await within(lookUp(admin, topic), times.check_ms);
      } catch (error) {
        throw checkError(error, failure(), settings);
      } finally {
        admin.disconnect().catch(() => undefined);
        endSockets();
      }
    },
    async close() {
      await gatherer.drain();
      drop();
    },
  };
}

type Connection = Awaited<ReturnType<typeof connect>>;

async function connect(settings: KafkaSettings, guard: DestinationGuard, times: Times) {
  const { kafka, failure, endSockets } = await createClient(settings, guard, times);
  const producer = kafka.producer({
    // Needs no right beyond writing to the topic. A retry may store an event twice; its id is the
    // same.
    idempotent: false,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    retry: { ...RETRY, retries: 1 },
  });
  const ready = producer.connect();
  ready.catch(() => undefined);
  return {
    producer,
    ready,
    failure,
    end(): void {
      producer.disconnect().catch(() => undefined);
      endSockets();
    },
  };
}

/** The offsets are read from the leaders, at the addresses that the cluster advertises. */
async function lookUp(admin: Admin, topic: string): Promise<void> {
  await admin.connect();
  await admin.fetchTopicMetadata({ topics: [topic] });
  await admin.fetchTopicOffsets(topic);
}

const records = (events: readonly DestinationEvent[]) =>
  events.map(({ event_id, event, ordering_key, body, content_type }) => ({
    key: ordering_key ?? null,
    value: body,
    headers: { 'webhook-id': event_id, event, 'content-type': content_type },
  }));

async function createClient(settings: KafkaSettings, guard: DestinationGuard, times: Times) {
  const { Kafka: KafkaClient, logLevel } = await import('kafkajs');
  const { ca = guard.ca, mechanism, username = '', password = '' } = settings;
  const socketGuard = { ...guard, ...(ca !== undefined && { ca }) };
  const sockets = new Map<Socket, KafkaGuard>();
  let ended = false;
  let last: ConnectFailed | null = null;
  // Also for the brokers that the cluster's metadata advertises.
  const socketFactory: KafkaConfig['socketFactory'] = ({ host, port, onConnect }) => {
    try {
      // kafkajs goes on through all brokers that it knows.
      if (ended) throw new ConnectFailed('aborted', false);
      const target = { host, port, tls: settings.tls };
      const frames = createKafkaGuard();
      const inspected = { ...socketGuard, inspect: frames.inspect };
      const { socket, failure } = guardedSocket(target, inspected, times.connect_ms);
      const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
      socket.write = (request: Buffer, ...args: unknown[]) => {
        try {
          frames.onRequest(request);
          return write(request, ...args);
        } catch (error) {
          socket.destroy(error as Error);
          return false;
        }
      };
      sockets.set(socket, frames);
      socket.once(settings.tls ? 'secureConnect' : 'connect', onConnect);
      socket.on('error', (error) => {
        last =
          error instanceof ProtocolBroken ? error : new ConnectFailed(failure() ?? 'reset', true);
      });
      socket.on('end', () => (last ??= new ConnectFailed('reset', true)));
      socket.once('close', () => sockets.delete(socket));
      return socket;
    } catch (error) {
      if (error instanceof ConnectFailed) last = error;
      throw error;
    }
  };
  const kafka = new KafkaClient({
    clientId: 'business-messaging-gateway',
    brokers: settings.brokers,
    ssl: settings.tls,
    ...(mechanism !== 'none' && { sasl: { mechanism, username, password } as SASLOptions }),
    socketFactory,
    connectionTimeout: times.connect_ms,
    authenticationTimeout: times.connect_ms,
    requestTimeout: times.request_ms,
    enforceRequestTimeout: true,
    // Each attempt starts from the next broker.
    retry: { ...RETRY, retries: settings.brokers.length },
    logLevel: logLevel.NOTHING,
  });
  return {
    kafka,
    /** The failure of its last connection: kafkajs keeps only the text of a socket's error. */
    failure(): ConnectFailed | null {
      // kafkajs takes a connection for ready although its first request had no answer in time.
      const hangs = [...sockets.values()].some((frames) => frames.isWaiting());
      return last ?? (hangs ? new ConnectFailed('timeout', true) : null);
    },
    /** Destroys the sockets after a moment: a hung server never closes its side. */
    endSockets(): void {
      ended = true;
      const destroy = (): void => sockets.forEach((_frames, socket) => socket.destroy());
      setTimeout(destroy, times.close_ms).unref();
    },
  };
}

interface KafkaFault {
  name?: string;
  type?: string;
  cause?: unknown;
  errors?: unknown[];
}

/** The error itself and what it wraps: kafkajs wraps errors of retries and of several brokers. */
function* causes(error: unknown): Generator<KafkaFault> {
  const seen = new Set<unknown>();
  const open: unknown[] = [error];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null || seen.has(one)) continue;
    seen.add(one);
    const fault = one as KafkaFault;
    yield fault;
    open.push(fault.cause, ...(fault.errors ?? []));
  }
}

const isCredentials = ({ name }: KafkaFault): boolean => name === 'KafkaJSSASLAuthenticationError';

function sendError(error: unknown, failure: ConnectFailed | null): Error {
  // kafkajs reports a connection that broke in an authentication as refused credentials.
  if (failure instanceof ProtocolBroken) return failure;
  for (const fault of causes(error)) {
    const type = fault.type ?? '';
    if (RECORD_REFUSED[type] !== undefined) return new EventRefused(RECORD_REFUSED[type]);
    if (PROTOCOL[type] !== undefined) return new SendFailed(PROTOCOL[type][0], { cause: error });
    if (isCredentials(fault)) return new SendFailed(CREDENTIALS_REFUSED, { cause: error });
    if (fault.name === 'KafkaJSRequestTimeoutError') return new SendFailed('timeout');
  }
  return failure ?? new SendFailed('reset', { cause: error });
}

function checkError(
  error: unknown,
  failure: ConnectFailed | null,
  { mechanism }: KafkaSettings,
): DestinationError {
  if (failure instanceof ProtocolBroken) return unreachable('brokers', failure.failure, failure);
  for (const fault of causes(error)) {
    const known = PROTOCOL[fault.type ?? ''];
    if (known !== undefined) return new DestinationError(known[1], known[2], { cause: error });
    if (isCredentials(fault)) {
      const problem = `was refused with ${mechanism}: check username, password and mechanism`;
      return new DestinationError('password', problem, { cause: error });
    }
  }
  const late = error instanceof SendFailed || isTimeout(error);
  if (failure !== null) return unreachable('brokers', failure.failure, failure);
  return unreachable('brokers', late ? 'timeout' : 'reset', error);
}

const isTimeout = (error: unknown): boolean =>
  [...causes(error)].some(({ name }) => name === 'KafkaJSRequestTimeoutError');
