// Repeating a request safely: the work of an Idempotency-Key is done at most once, across all
// replicas and failures. Requests without a key never come here.
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import { ApiError, toApiError } from '@bmg/common/errors';
import {
  cannotProtect,
  keyInUse,
  keyReused,
  leavesEarlierUnknown,
  outcomeOf,
  unknownOutcome,
} from '@bmg/common/idempotency';
import type { RedisConnection } from '@bmg/common/redis';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { type MessagingDefinition, SendResult } from '@bmg/proto/messaging';
import type { Endpoint, Fields, Input, Rpc } from '../endpoints/endpoint';
import { errorBody } from '../error-guide/error-body';
import { fingerprint, readKey } from './key';
import { createRecords, RECORDS_MAX, type StoredAnswer, type Ticket } from './records';

/** Added to the request's deadline: when the lease ends, the worker counts as dead. */
export const LEASE_MARGIN_MS = 5_000;
/** Larger answers are not stored: all partners share the memory of Redis. */
export const ANSWER_LIMIT_BYTES = 64 * 1024;
/** The status event of a send usually arrives within seconds. */
const LOOK_UP_AFTER_S = 2;

/** The work of one request. */
export interface Work {
  headers: IncomingHttpHeaders;
  input: Input;
  call: Call;
  /** Does the work; throws the error that the partner gets. */
  run(call: Call): Promise<Fields>;
  /** Makes the answer from the reply of the service. */
  answer(reply: Fields): Answer;
}

type Row = Pick<Endpoint, 'rpc' | 'verb' | 'path'>;

/** Does the work of an endpoint's request, or answers from an earlier one with the same key. */
type Guard = (work: Work) => Promise<Answer>;
export type Guards = (endpoint: Row) => Guard;

interface GuardDependencies {
  redis: RedisConnection;
  messaging: Pick<Client<MessagingDefinition>, 'findOutcome'>;
  /** The documentation's page, for `doc_url` of errors. */
  docs_url?: string;
  log: Logger;
}

export function createGuards({ redis, messaging, docs_url, log }: GuardDependencies): Guards {
  const records = createRecords(redis, log);
  return (endpoint) => {
    const remedy = remedyOf(endpoint.rpc);
    const retry_after_s = remedy === 'look_up' ? LOOK_UP_AFTER_S : undefined;

    const runOnce = async (work: Work, ticket: Ticket): Promise<Answer> => {
      const { request_id } = ticket;
      const idempotency = {
        key: request_id,
        fingerprint: ticket.fingerprint,
        given: ticket.key,
        replayed: false,
      };
      let answer: Answer;
      try {
        answer = work.answer(await work.run({ ...work.call, idempotency }));
      } catch (error) {
        const failure = toApiError(error);
        const outcome = outcomeOf(failure);
        await records.complete(ticket, outcome, storedFailure(failure, work.call, docs_url));
        if (leavesEarlierUnknown(failure)) throw unknownOutcome(failure, retry_after_s);
        if (outcome !== 'unknown') throw failure;
        log.warn({ err: failure, request_id }, 'outcome of a request with a key is unknown');
        throw unknownOutcome(failure, retry_after_s);
      }
      await records.complete(ticket, 'final', storedAnswer(answer));
      // Redis had lost the record of the first request, and the service had not.
      return idempotency.replayed ? { ...answer, replayed: true } : answer;
    };

    const lookUp = async (work: Work, ticket: Ticket): Promise<Answer> => {
      const { target } = work.input;
      if (remedy !== 'look_up' || !target) throw unknownOutcome();
      const { request_id } = ticket;
      const { result } = await messaging
        .findOutcome({ target, request_id }, work.call)
        .catch((error: unknown) => {
          throw unknownOutcome(error, retry_after_s);
        });
      if (!result) throw unknownOutcome(undefined, retry_after_s);
      const answer = work.answer({ ...result });
      await records.complete(ticket, 'final', storedAnswer(answer));
      return { ...answer, replayed: true };
    };

    return async (work) => {
      const request = {
        partner_id: work.input.partner_id,
        key: readKey(work.headers),
        fingerprint: await fingerprint(endpoint, work.input, work.headers),
        lease_ms: Math.max(0, work.call.deadline - Date.now()) + LEASE_MARGIN_MS,
        repeatable: remedy === 'repeat',
      };
      const begun = await records.begin(request).catch((error: unknown) => {
        throw cannotProtect(error);
      });
      switch (begun.state) {
        case 'begun':
          return runOnce(work, begun.ticket);
        case 'unknown':
          return lookUp(work, begun.ticket);
        case 'done':
          return { ...begun.answer, replayed: true };
        case 'running':
          throw keyInUse();
        case 'reused':
          throw keyReused();
        case 'full':
          throw quotaUsedUp();
      }
    };
  };
}

const FULL_RETRY_AFTER_S = 3_600;

const quotaUsedUp = (): ApiError =>
  new ApiError(
    'QUOTA_EXCEEDED',
    'your requests with an Idempotency-Key of the last 24 hours have used up their quota: send this one without a key, or later',
    { details: { limit: RECORDS_MAX }, retry_after_s: FULL_RETRY_AFTER_S },
  );

function storedAnswer({ status, body }: Answer): StoredAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (Buffer.byteLength(text) <= ANSWER_LIMIT_BYTES) return { status, body: text };
  // A repeat still learns that the work was done, only not with which answer.
  return { status, body: JSON.stringify({ success: status < 400 }) };
}

const storedFailure = (
  failure: ApiError,
  { request_id }: Call,
  docs_url: string | undefined,
): StoredAnswer =>
  storedAnswer({ status: failure.http, body: { ...errorBody(failure, request_id, docs_url) } });

/** A new response, or one stored under an Idempotency-Key. */
export interface Answer {
  status: number;
  /** Fields of a new answer; the stored JSON text of a replayed one. */
  body: Fields | string;
  /** True for a response that an earlier request already got. */
  replayed?: boolean;
}

export function writeAnswer(context: Context, { status, body, replayed }: Answer): void {
  context.status = status;
  if (typeof body === 'string') context.type = 'json';
  context.body = body;
  if (replayed) context.set('Idempotency-Replayed', 'true');
}

/**
 * How a retry can resolve the unknown outcome of an earlier request. look_up: a send; the messaging
 * service may have learnt the outcome from status events. repeat: doing the work again under the
 * same request id has no further effect. none: the outcome stays unknown.
 */
type Remedy = 'look_up' | 'repeat' | 'none';

const REPEATABLE = new Set([
  // A request id creates one broadcast, however often it is sent.
  'createBroadcast',
  // Marking a read message as read changes nothing.
  'markRead',
]);

export function remedyOf({ method, codecs }: Rpc): Remedy {
  if (codecs.responseType === SendResult) return 'look_up';
  return REPEATABLE.has(method) ? 'repeat' : 'none';
}
