// Repeating a request safely: what is done under an Idempotency-Key is done once, whichever replica is
// asked how often, and whatever breaks. A request without a key does not come here.
import type { IncomingHttpHeaders } from 'node:http';
import { toApiError, type ApiError } from '@bmg/common/errors';
import type { RedisConnection } from '@bmg/common/redis';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { Endpoint, Fields, Input } from '../endpoints/endpoint';
import { errorBody } from '../edge/error-body';
import type { Answer } from './answer';
import { fingerprint, readKey } from './key';
import { judge, keyInUse, keyReused, unknownOutcome, unprotected } from './outcome';
import {
  createRecords,
  type Asked,
  type Begun,
  type KeptAnswer,
  type Records,
  type Ticket,
} from './records';
import { remedyOf } from './remedy';

/** What a worker may still do after the deadline of its request: past it, it counts as dead. */
export const LEASE_MARGIN_MS = 5_000;
/** Answers are small; one that is not would fill the memory that all partners share. */
export const ANSWER_LIMIT_BYTES = 64 * 1024;
/** The status of a send usually arrives within seconds. */
const ASK_AGAIN_AFTER_S = 2;

export interface Work {
  headers: IncomingHttpHeaders;
  input: Input;
  call: Call;
  /** Throws what the partner is told when it fails. */
  run(call: Call): Promise<Fields>;
  /** The answer that a reply means. */
  answer(reply: Fields): Answer;
}

type Row = Pick<Endpoint, 'rpc' | 'verb' | 'path'>;

/** Of one endpoint. */
export interface Guard {
  (work: Work): Promise<Answer>;
}

export interface GuardDependencies {
  redis: RedisConnection;
  messaging: Pick<Client<MessagingDefinition>, 'findOutcome'>;
  log: Logger;
}

export interface Guards {
  (endpoint: Row): Guard;
}

export function createGuards({ redis, messaging, log }: GuardDependencies): Guards {
  const records = createRecords(redis, log);
  return (endpoint) => {
    const remedy = remedyOf(endpoint.rpc);
    const ask_again_after_s = remedy === 'ask' ? ASK_AGAIN_AFTER_S : undefined;

    const doOnce = async (work: Work, ticket: Ticket): Promise<Answer> => {
      const { request_id } = ticket;
      const idempotency = { key: request_id, fingerprint: ticket.fingerprint };
      let answer: Answer;
      try {
        answer = work.answer(await work.run({ ...work.call, idempotency }));
      } catch (error) {
        const failure = toApiError(error);
        const verdict = judge(failure);
        await records.settle(ticket, verdict, keptFailure(failure, work.call));
        if (verdict !== 'unknown' || failure.code === 'IDEMPOTENCY_KEY_IN_USE') throw failure;
        log.warn({ err: failure, request_id }, 'the outcome of a request with a key is not known');
        throw unknownOutcome(failure, ask_again_after_s);
      }
      await records.settle(ticket, 'keep', kept(answer));
      return answer;
    };

    const ask = async (work: Work, ticket: Ticket): Promise<Answer> => {
      const { target } = work.input;
      if (remedy !== 'ask' || !target) throw unknownOutcome();
      const { request_id } = ticket;
      const { result } = await messaging
        .findOutcome({ target, request_id }, work.call)
        .catch((error: unknown) => {
          throw unknownOutcome(error, ask_again_after_s);
        });
      if (!result) throw unknownOutcome(undefined, ask_again_after_s);
      const answer = work.answer({ ...result });
      await records.settle(ticket, 'keep', kept(answer));
      return { ...answer, replayed: true };
    };

    return async (work) => {
      const begun = await begin(records, {
        partner_id: work.input.partner_id,
        key: readKey(work.headers),
        fingerprint: fingerprint(endpoint, work.input, work.headers),
        lease_ms: Math.max(0, work.call.deadline - Date.now()) + LEASE_MARGIN_MS,
        again: remedy === 'again',
      });
      switch (begun.state) {
        case 'begun':
          return doOnce(work, begun.ticket);
        case 'unknown':
          return ask(work, begun.ticket);
        case 'done':
          return { ...begun.answer, replayed: true };
        case 'running':
          throw keyInUse();
        case 'reused':
          throw keyReused();
      }
    };
  };
}

async function begin(records: Records, asked: Asked): Promise<Begun> {
  try {
    return await records.begin(asked);
  } catch (error) {
    throw unprotected(error);
  }
}

function kept({ status, body }: Answer): KeptAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (Buffer.byteLength(text) <= ANSWER_LIMIT_BYTES) return { status, body: text };
  // That it was done is worth more than how it was told.
  return { status, body: JSON.stringify({ success: status < 400 }) };
}

const keptFailure = (failure: ApiError, { request_id }: Call): KeptAnswer =>
  kept({ status: failure.http, body: { ...errorBody(failure, request_id) } });
