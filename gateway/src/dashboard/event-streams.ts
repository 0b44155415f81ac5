// The live list of events: a partner's log as server-sent events, each with its position as id. A stream
// ends with its session, with its reader, at shutdown, and when the log cannot be read; the browser then
// opens it again after the last position it has.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { invalidField, missingFields } from '@bmg/common/errors';
import { pause, type Component } from '@bmg/common/lifecycle';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { EventLogDefinition, ListEventsResponse } from '@bmg/proto/webhooks';
import type { State } from '../edge/state';
import { logged } from '../endpoints/events/rows';
import type { Load } from '../limits/load';

export interface EventStreams extends Component {
  /** Answers with the events after the position that the request names. Resolves once it is open. */
  open(context: Context, reader: StreamReader): Promise<void>;
}

export interface StreamReader {
  partner_id: string;
  /** Throws when the session is over. */
  check(call: Call): Promise<unknown>;
}

interface Dependencies {
  events: Client<EventLogDefinition>;
  load: Pick<Load, 'enterStream'>;
  log: Logger;
}

/** One read of the log, and so the interval of heartbeats. */
const WAIT_S = 10;
const CALL_LIMIT_MS = 20_000;
const PAGE = 200;
/** Events that come one after the other are read together. */
const APART_MS = 400;
/** While events come; without events each heartbeat checks the session. */
const CHECK_EVERY_MS = 5_000;
/** A reader that takes no bytes for so long is gone. */
const SLOW_READER_MS = 15_000;
const RECONNECT_MS = 2_000;
const POSITION = /^\d{1,15}$/;

export function createEventStreams({ events, load, log }: Dependencies): EventStreams {
  const stopped = new AbortController();
  const end = (): void => stopped.abort();
  return {
    name: 'event-streams',
    async start() {},
    drain: end,
    async stop() {
      end();
    },
    async open(context, reader) {
      const { call } = context.state as State;
      const after = positionOf(context);
      const read: Read = (position, wait, call) =>
        events.listEvents(
          { partner_id: reader.partner_id, after: position, limit: PAGE, wait },
          call,
        );
      const leave = load.enterStream(reader.partner_id);
      try {
        // A refusal is an ordinary error answer.
        const first = await read(after, 0, call);
        const response = begin(context);
        void follow({ response, first, read, reader, call, stopped: stopped.signal, log }).finally(
          leave,
        );
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

type Read = (position: number, wait: number, call: Call) => Promise<ListEventsResponse>;

interface Stream {
  response: ServerResponse;
  first: ListEventsResponse;
  read: Read;
  reader: StreamReader;
  call: Call;
  stopped: AbortSignal;
  log: Logger;
}

/** A browser that opens the stream again names the last event that it got. */
function positionOf(context: Context): number {
  const last = context.get('last-event-id');
  const [name, text] = last === '' ? ['after', context.query['after']] : ['Last-Event-ID', last];
  if (text === undefined)
    throw missingFields(['after'], 'after is required: a position of the log');
  if (typeof text !== 'string' || !POSITION.test(text)) {
    throw invalidField(name, 'must be a position of the log');
  }
  return Number(text);
}

/** From here on the stream writes the response instead of Koa. */
function begin(context: Context): ServerResponse {
  context.status = 200;
  // Proxies must pass each event on at once.
  context.set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  context.respond = false;
  const response = context.res as ServerResponse;
  response.flushHeaders();
  response.write(`retry: ${RECONNECT_MS}\n\n`);
  return response;
}

async function follow({ response, first, read, reader, stopped, log, ...given }: Stream) {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.once('error', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, stopped]);
  const call = (): Call => ({ ...given.call, deadline: Date.now() + CALL_LIMIT_MS, signal });
  let checked = performance.now();
  let page = first;
  try {
    while (!signal.aborted) {
      await write(response, page, signal);
      if (page.events.length === 0 || performance.now() - checked > CHECK_EVERY_MS) {
        await reader.check(call());
        checked = performance.now();
      }
      if (page.events.length > 0 && !page.has_more) await pause(APART_MS, signal);
      if (signal.aborted) return;
      page = await read(page.next, page.has_more ? 0 : WAIT_S, call());
    }
  } catch (error) {
    if (!signal.aborted) log.debug({ err: error }, 'a stream of events ended');
  } finally {
    response.end();
  }
}

async function write(
  response: ServerResponse,
  { events }: ListEventsResponse,
  signal: AbortSignal,
): Promise<void> {
  const lines = events.map(
    (event) => `id: ${event.seq}\ndata: ${JSON.stringify(logged(event))}\n\n`,
  );
  if (response.write(lines.length > 0 ? lines.join('') : ': heartbeat\n\n')) return;
  const slow = AbortSignal.timeout(SLOW_READER_MS);
  await once(response, 'drain', { signal: AbortSignal.any([signal, slow]) }).catch(() => {
    if (!signal.aborted) response.destroy();
  });
}
