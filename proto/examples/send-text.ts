// An internal caller: a program of the platform that sends without the edge. It presents a
// certificate, sets a deadline on every call, lets gRPC repeat reads, and never repeats a send:
// if the answer is not received, it looks the outcome up. Copy it; it needs @bmg/proto and @grpc/grpc-js only.
import { readFileSync } from 'node:fs';
import {
  Client,
  credentials,
  Metadata,
  status,
  type ChannelCredentials,
  type ServiceError,
} from '@grpc/grpc-js';
import {
  FindOutcomeRequest,
  FindOutcomeResponse,
  SendResult,
  SendTextRequest,
} from '@bmg/proto/messaging';

const SERVICE = 'bmg.messaging.v1.Messaging';
const SEND_LIMIT_MS = 15_000;
const ASK_LIMIT_MS = 5_000;

/**
 * gRPC repeats reads only. For a send, UNAVAILABLE means that the connection broke; the send may
 * have been executed.
 */
const SERVICE_CONFIG = {
  loadBalancingConfig: [{ round_robin: {} }],
  methodConfig: [
    {
      name: [{ service: SERVICE, method: 'FindOutcome' }],
      retryPolicy: {
        maxAttempts: 4,
        initialBackoff: '0.2s',
        maxBackoff: '2s',
        backoffMultiplier: 2,
        retryableStatusCodes: ['UNAVAILABLE'],
      },
    },
  ],
};

/**
 * Files of this caller: its certificate has a name that services/common/src/identity/access.ts
 * knows.
 */
export const certificateOf = (files: {
  certificate: string;
  key: string;
  authority: string;
}): ChannelCredentials =>
  credentials.createSsl(
    readFileSync(files.authority),
    readFileSync(files.key),
    readFileSync(files.certificate),
  );

/** The outcome of a send. After `unknown` look again later; do not send again. */
export type Sent =
  | { outcome: 'sent'; message_id: string }
  | { outcome: 'refused'; code: number; reason: string }
  | { outcome: 'unknown' };

export interface Sender {
  /**
   * `request_id` is chosen by the caller, new for every message: it identifies the outcome later.
   */
  sendText(request: SendTextRequest, request_id: string): Promise<Sent>;
  findOutcome(target: SendTextRequest['target'], request_id: string): Promise<Sent>;
  close(): void;
}

export function openSender(address: string, how: ChannelCredentials): Sender {
  const client = new Client(`dns:///${address}`, how, {
    'grpc.service_config': JSON.stringify(SERVICE_CONFIG),
  });

  const findOutcome: Sender['findOutcome'] = async (target, request_id) => {
    const found = await call(client, FIND_OUTCOME, { target, request_id }, ASK_LIMIT_MS);
    return found.result
      ? { outcome: 'sent', message_id: found.result.message_id }
      : { outcome: 'unknown' };
  };

  return {
    findOutcome,
    async sendText(request, request_id) {
      const metadata = new Metadata();
      metadata.set('idempotency-key', request_id);
      try {
        const { message_id } = await call(client, SEND_TEXT, request, SEND_LIMIT_MS, metadata);
        return { outcome: 'sent', message_id };
      } catch (error) {
        const { code, details } = error as ServiceError;
        if (code !== status.UNAVAILABLE && code !== status.DEADLINE_EXCEEDED) {
          return { outcome: 'refused', code, reason: details };
        }
        return findOutcome(request.target, request_id).catch(() => ({ outcome: 'unknown' }));
      }
    },
    close: () => client.close(),
  };
}

interface Codec<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

interface Method<Q, A> {
  path: string;
  request: Codec<Q>;
  answer: Codec<A>;
}

const SEND_TEXT: Method<SendTextRequest, SendResult> = {
  path: `/${SERVICE}/SendText`,
  request: SendTextRequest,
  answer: SendResult,
};
const FIND_OUTCOME: Method<FindOutcomeRequest, FindOutcomeResponse> = {
  path: `/${SERVICE}/FindOutcome`,
  request: FindOutcomeRequest,
  answer: FindOutcomeResponse,
};

const call = <Q, A>(
  client: Client,
  { path, request, answer }: Method<Q, A>,
  message: Q,
  limit_ms: number,
  metadata = new Metadata(),
): Promise<A> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      (value: Q) => Buffer.from(request.encode(value).finish()),
      (bytes) => answer.decode(bytes),
      message,
      metadata,
      { deadline: Date.now() + limit_ms },
      (error, reply) => (error ? reject(error) : resolve(reply as A)),
    );
  });
