// A partner's queue of Amazon SQS or of a server with its protocol. On a FIFO queue, a conversation
// is a message group and the event id removes repetitions.
import { createHash } from 'node:crypto';
import type { SqsSettings } from '@bmg/common/destinations';
import { checkUrl } from '@bmg/common/outbound';
import type { SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import { awsCheckError, awsSendError, createAwsConnection, type AwsFaults } from '../aws';
import {
  failureText,
  refused,
  SENT,
  unsent,
  type Destination,
  type DestinationEvent,
  type DestinationGuard,
  type Sent,
  type Times,
} from '../destination';
import { createGatherer } from '../gatherer';

/** Bounds of the service: entries and bytes of one request. */
const REQUEST_EVENTS_MAX = 10;
const REQUEST_BYTES_MAX = 256 * 1024;
/** The attributes count too. */
const ATTRIBUTES_BYTES = 1_024;
const EVENT_BYTES_MAX = REQUEST_BYTES_MAX - ATTRIBUTES_BYTES;
const CONNECTIONS = 4;
const BATCH_EVENTS_MAX = CONNECTIONS * REQUEST_EVENTS_MAX;
const BATCH_BYTES_MAX = CONNECTIONS * REQUEST_BYTES_MAX;
/** What a message group id may hold; other keys are hashed. */
const GROUP_ID = /^[!-~]{1,128}$/;

const NO_QUEUE = [
  'no such queue',
  'queue_url',
  'names a queue that does not exist: create it',
] as const;
const NOT_ALLOWED = [
  'not allowed to write to the queue',
  'access_key_id',
  'lacks a permission: allow sqs:SendMessage and sqs:GetQueueAttributes on the queue',
] as const;
const FAULTS: AwsFaults = {
  QueueDoesNotExist: NO_QUEUE,
  NonExistentQueue: NO_QUEUE,
  AccessDenied: NOT_ALLOWED,
  AccessDeniedException: NOT_ALLOWED,
};
/** Refusals of one message, which a retry cannot fix. */
const MESSAGE_REFUSED: ReadonlySet<string> = new Set([
  'InvalidMessageContents',
  'InvalidParameterValue',
  'MessageTooLong',
]);

/** Opens no connection yet. */
export async function openSqs(
  settings: SqsSettings,
  guard: DestinationGuard,
  times: Times,
): Promise<Destination> {
  const { queue_url } = settings;
  const { allowPrivate } = guard;
  const endpoint = checkUrl(queue_url, { field: 'queue_url', allowPrivate });
  const sqs = await import('@aws-sdk/client-sqs');
  const connection = createAwsConnection(endpoint, settings, guard, {
    ...times,
    connections: CONNECTIONS,
    answers: 'json',
  });
  // Only the host of queue_url is called: not one that the service names.
  const client: SQSClient = new sqs.SQSClient({
    ...connection.config,
    useQueueUrlAsEndpoint: false,
  });
  const fifo = endpoint.pathname.endsWith('.fifo');

  const request = async (
    events: readonly DestinationEvent[],
    abortSignal: AbortSignal,
  ): Promise<Sent[]> => {
    try {
      const Entries = events.map((event, at) => entryOf(event, at, fifo));
      const command = new sqs.SendMessageBatchCommand({ QueueUrl: queue_url, Entries });
      const { Successful = [], Failed = [] } = await client.send(command, { abortSignal });
      const stored = new Set(Successful.map(({ Id }) => Id));
      const failed = new Map(Failed.map((one) => [one.Id, one.Code ?? '']));
      return events.map((_event, at) => resultOf(stored.has(String(at)), failed.get(String(at))));
    } catch (error) {
      const text = failureText(awsSendError(error, FAULTS));
      return events.map(() => unsent(text));
    }
  };
  const gatherer = createGatherer({
    limits: { events: BATCH_EVENTS_MAX, bytes: BATCH_BYTES_MAX, event_bytes: EVENT_BYTES_MAX },
    atomic: false,
    times,
    async write(events, signal) {
      const sent = await Promise.all(requestsOf(events).map((one) => request(one, signal)));
      return sent.flat();
    },
  });

  return {
    send: gatherer.send,
    async check() {
      const abortSignal = AbortSignal.timeout(times.check_ms);
      const command = new sqs.GetQueueAttributesCommand({
        QueueUrl: queue_url,
        AttributeNames: ['QueueArn'],
      });
      try {
        await client.send(command, { abortSignal });
      } catch (error) {
        throw awsCheckError(error, FAULTS, 'queue_url');
      }
    },
    async close() {
      await gatherer.drain();
      await connection.close();
    },
  };
}

function resultOf(isStored: boolean, code: string | undefined): Sent {
  if (isStored) return SENT;
  if (code === undefined || code === '') return unsent('refused by the queue');
  const name = code.replace(/^.*\./, '');
  if (MESSAGE_REFUSED.has(name)) return refused('event refused by the queue');
  return unsent(FAULTS[name]?.[0] ?? 'refused by the queue');
}

const sizeOf = ({ body }: DestinationEvent): number => body.length + ATTRIBUTES_BYTES;

/** Splits a batch by the bounds of a request; the order stays. */
function requestsOf(events: readonly DestinationEvent[]): DestinationEvent[][] {
  const requests: DestinationEvent[][] = [];
  let last: DestinationEvent[] = [];
  let bytes = Infinity;
  for (const event of events) {
    if (last.length === REQUEST_EVENTS_MAX || bytes + sizeOf(event) > REQUEST_BYTES_MAX) {
      last = [];
      requests.push(last);
      bytes = 0;
    }
    last.push(event);
    bytes += sizeOf(event);
  }
  return requests;
}

const text = (value: string) => ({ DataType: 'String', StringValue: value });

function entryOf(
  { event_id, event, ordering_key, body }: DestinationEvent,
  at: number,
  fifo: boolean,
): SendMessageBatchRequestEntry {
  return {
    Id: String(at),
    MessageBody: body.toString('utf8'),
    MessageAttributes: { 'webhook-id': text(event_id), event: text(event) },
    ...(fifo && {
      MessageDeduplicationId: event_id,
      MessageGroupId: groupOf(ordering_key ?? event_id),
    }),
  };
}

const groupOf = (key: string): string =>
  GROUP_ID.test(key) ? key : createHash('sha256').update(key).digest('hex');
