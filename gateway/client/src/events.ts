// Reads the event log as one endless sequence. It outlives restarts of the gateway and of the
// network: temporary failures are retried, with growing waits, until the caller ends the sequence.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client as Calls } from 'openapi-fetch';
import { failure } from './errors';
import { backoff, retryAfter } from './retries';
import type { paths } from './schema';
import type { Envelope } from './webhook';

type Query = NonNullable<paths['/events']['get']['parameters']['query']>;
type Answer = paths['/events']['get']['responses']['200']['content']['application/json'];

/** An event with its position in the log; `envelope.event` decides which data it has. */
export type LoggedEvent = Omit<Answer['events'][number], 'envelope'> & { envelope: Envelope };

export interface EventsOptions extends Pick<Query, 'after' | 'event' | 'limit'> {
  /** Ends the sequence. */
  signal?: AbortSignal;
  /** Called before each wait after an interruption, for a log. */
  onInterruption?: (reason: unknown, wait_ms: number) => void;
}

/** The longest that the gateway holds a request. */
const WAIT_S = 20;
/** After this long without an answer the connection to the gateway counts as lost. */
const ANSWER_LIMIT_MS = (WAIT_S + 15) * 1_000;
const INTERRUPTION_WAIT_MAX_MS = 30_000;

/** A temporary interruption: the sequence continues from the same position. */
class Interruption extends Error {
  constructor(
    readonly reason: unknown,
    readonly retry_after_ms?: number,
  ) {
    super('interrupted');
  }
}

/**
 * Store `seq` together with the result of handling an event, and pass it as `after` to continue.
 * Throws only for permanent errors: a refused key, a wrong parameter.
 */
export async function* readEvents(
  calls: Calls<paths, 'application/json'>,
  { signal, after, onInterruption, ...query }: EventsOptions,
): AsyncGenerator<LoggedEvent, void> {
  let position = after;
  for (let failures = 0; !signal?.aborted;) {
    const asked = { ...query, wait: WAIT_S, ...(position !== undefined && { after: position }) };
    let answer: Answer;
    try {
      answer = await readOnce(calls, asked, signal);
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof Interruption)) throw error;
      failures += 1;
      const wait_ms = error.retry_after_ms ?? Math.min(backoff(failures), INTERRUPTION_WAIT_MAX_MS);
      onInterruption?.(error.reason, wait_ms);
      await sleep(wait_ms, undefined, { ...(signal && { signal }) }).catch(() => undefined);
      continue;
    }
    failures = 0;
    for (const event of answer.events) {
      // An abort ends the sequence between two events: the next one was not handled.
      if (signal?.aborted) return;
      yield event as LoggedEvent;
    }
    position = answer.next;
  }
}

async function readOnce(
  calls: Calls<paths, 'application/json'>,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
  const result = await calls
    .GET('/events', {
      params: { query },
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    .catch((reason: unknown) => {
      throw new Interruption(reason);
    });
  const { data, error, response } = result;
  if (data) return data;
  const reason = failure(error, response);
  if (response.status >= 500 || response.status === 429) {
    throw new Interruption(reason, retryAfter(response));
  }
  throw reason;
}
