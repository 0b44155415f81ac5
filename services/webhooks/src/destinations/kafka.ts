// A partner's Kafka topic. The key is the conversation, so that a partition has its events in order.
import { ConnectFailed, guardedSocket, type OutboundFailure } from '@bmg/common/outbound';
import type { Admin, Kafka, KafkaConfig, Producer, SASLOptions } from 'kafkajs';
import {
  CHECK_LIMIT_MS,
  DestinationError,
  EventRefused,
  SendFailed,
  SENT,
  unreachable,
  type Destination,
  type DestinationEvent,
  type DestinationGuard,
} from './destination';
import { createGatherer } from './gatherer';
import { within } from './within';

export interface KafkaDestination {
  brokers: string[];
  topic: string;
  tls: boolean;
  ca?: string;
  mechanism: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512';
  username?: string;
  password?: string;
}

export const kafkaSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['brokers', 'topic'],
  properties: {
    brokers: {
      type: 'array',
      minItems: 1,
      maxItems: 10,
      items: { type: 'string', maxLength: 300, pattern: String.raw`^[^\s/@:]+:[0-9]{1,5}$` },
      description: 'the addresses to start from, `host:port`',
    },
    topic: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,249}$' },
    tls: { type: 'boolean', default: true },
    ca: {
      type: 'string',
      maxLength: 65_536,
      description: 'certificate authority of the brokers in PEM, unless it is a public one',
    },
    mechanism: {
      enum: ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
      default: 'none',
      description: 'of SASL',
    },
    username: { type: 'string', minLength: 1, maxLength: 256 },
    password: { type: 'string', minLength: 1, maxLength: 1_024, writeOnly: true },
  },
  if: {
    required: ['mechanism'],
    properties: { mechanism: { enum: ['plain', 'scram-sha-256', 'scram-sha-512'] } },
  },
  then: { required: ['username', 'password'] },
} as const;

const CONNECT_LIMIT_MS = 3_000;
const REQUEST_LIMIT_MS = 7_000;
/** Kafka's own default for a record batch is 1 MiB, framing, key and headers included. */
const EVENT_BYTES_MAX = 1_000_000;
const BATCH_EVENTS_MAX = 500;
const RETRY = { initialRetryTime: 100, maxRetryTime: 500 };

/** What a broker refuses because of one record. */
const RECORD_REFUSED: Readonly<Record<string, string>> = {
  MESSAGE_TOO_LARGE: 'event too large for the topic',
  INVALID_RECORD: 'event refused by the topic',
};
/** Errors of the protocol: the text for the failed list, and the setting to mend. */
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
  settings: KafkaDestination,
  guard: DestinationGuard,
): Promise<Destination> {
  const { topic } = settings;
  let connection: Connection | undefined;
  /** Of the last connection: kafkajs keeps only the text of a socket's error. */
  let failure: OutboundFailure | null = null;
  const kafka = await createKafka(settings, guard, (one) => (failure = one));

  const drop = (): void => {
    connection?.producer.disconnect().catch(() => undefined);
    connection = undefined;
  };
  const connected = async (): Promise<Producer> => {
    const mine = (connection ??= connect(kafka));
    await mine.ready;
    return mine.producer;
  };
  const write = async (events: readonly DestinationEvent[]): Promise<(typeof SENT)[]> => {
    failure = null;
    try {
      const producer = await connected();
      await producer.send({
        topic,
        acks: -1,
        timeout: REQUEST_LIMIT_MS,
        messages: records(events),
      });
      return events.map(() => SENT);
    } catch (error) {
      drop();
      throw sendError(error, failure);
    }
  };
  const gatherer = createGatherer({
    limits: { events: BATCH_EVENTS_MAX, bytes: EVENT_BYTES_MAX, event_bytes: EVENT_BYTES_MAX },
    wait_ms: 0,
    atomic: true,
    write,
    reset: drop,
  });

  return {
    send: gatherer.send,
    async check(signal) {
      failure = null;
      const admin = kafka.admin();
      try {
        await within(lookUp(admin, topic), CHECK_LIMIT_MS, signal);
      } catch (error) {
        throw checkError(error, failure, settings);
      } finally {
        admin.disconnect().catch(() => undefined);
      }
    },
    async close() {
      await gatherer.drain();
      await connection?.producer.disconnect().catch(() => undefined);
      connection = undefined;
    },
  };
}

interface Connection {
  producer: Producer;
  ready: Promise<void>;
}

function connect(kafka: Kafka): Connection {
  const producer = kafka.producer({
    // Needs no right beyond writing to the topic. A retry may store an event twice; its id is the same.
    idempotent: false,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    retry: { ...RETRY, retries: 1 },
  });
  const ready = producer.connect();
  ready.catch(() => undefined);
  return { producer, ready };
}

/** The offsets are read from the leaders, at the addresses that the cluster advertises. */
async function lookUp(admin: Admin, topic: string): Promise<void> {
  await admin.connect();
  await admin.fetchTopicMetadata({ topics: [topic] });
  await admin.fetchTopicOffsets(topic);
}

const records = (events: readonly DestinationEvent[]) =>
  events.map(({ event_id, event, ordering_key, body }) => ({
    key: ordering_key ?? null,
    value: body,
    headers: { 'webhook-id': event_id, event, 'content-type': 'application/json' },
  }));

async function createKafka(
  settings: KafkaDestination,
  guard: DestinationGuard,
  onFailure: (failure: OutboundFailure | null) => void,
): Promise<Kafka> {
  const { Kafka: Client, logLevel } = await import('kafkajs');
  const { ca = guard.ca, mechanism, username = '', password = '' } = settings;
  const socketGuard = { ...guard, ...(ca !== undefined && { ca }) };
  // Also for the brokers that the cluster's metadata advertises.
  const socketFactory: KafkaConfig['socketFactory'] = ({ host, port, onConnect }) => {
    try {
      const target = { host, port, tls: settings.tls };
      const { socket, failure } = guardedSocket(target, socketGuard, CONNECT_LIMIT_MS);
      socket.once(settings.tls ? 'secureConnect' : 'connect', onConnect);
      socket.on('error', () => onFailure(failure()));
      return socket;
    } catch (error) {
      if (error instanceof ConnectFailed) onFailure(error.failure);
      throw error;
    }
  };
  return new Client({
    clientId: 'business-messaging-gateway',
    brokers: settings.brokers,
    ssl: settings.tls,
    ...(mechanism !== 'none' && { sasl: { mechanism, username, password } as SASLOptions }),
    socketFactory,
    connectionTimeout: CONNECT_LIMIT_MS,
    authenticationTimeout: CONNECT_LIMIT_MS,
    requestTimeout: REQUEST_LIMIT_MS,
    enforceRequestTimeout: true,
    // Each try takes the next of the brokers to start from.
    retry: { ...RETRY, retries: settings.brokers.length },
    logLevel: logLevel.NOTHING,
  });
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

function sendError(error: unknown, failure: OutboundFailure | null): Error {
  for (const fault of causes(error)) {
    const type = fault.type ?? '';
    if (RECORD_REFUSED[type] !== undefined) return new EventRefused(RECORD_REFUSED[type]);
    if (PROTOCOL[type] !== undefined) return new SendFailed(PROTOCOL[type][0], { cause: error });
    if (isCredentials(fault)) return new SendFailed(CREDENTIALS_REFUSED, { cause: error });
    if (fault.name === 'KafkaJSRequestTimeoutError') return new SendFailed('timeout');
  }
  return new SendFailed(failure ?? 'reset', { cause: error });
}

function checkError(
  error: unknown,
  failure: OutboundFailure | null,
  { mechanism }: KafkaDestination,
): DestinationError {
  for (const fault of causes(error)) {
    const known = PROTOCOL[fault.type ?? ''];
    if (known !== undefined) return new DestinationError(known[1], known[2], { cause: error });
    if (isCredentials(fault)) {
      const problem = `was refused with ${mechanism}: check username, password and mechanism`;
      return new DestinationError('password', problem, { cause: error });
    }
  }
  const late = error instanceof SendFailed || isTimeout(error);
  return unreachable('brokers', failure ?? (late ? 'timeout' : 'reset'), error);
}

const isTimeout = (error: unknown): boolean =>
  [...causes(error)].some(({ name }) => name === 'KafkaJSRequestTimeoutError');
