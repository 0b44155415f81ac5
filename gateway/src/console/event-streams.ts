// The live list of events: a partner's log as server-sent events, each with its position as id. A
// stream ends with its session, with its reader, at shutdown, and when the log cannot be read; the
// browser then opens it again after the last position it has.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import { pause } from '@bmg/common/lifecycle';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { EventLogDefinition, ListEventsResponse } from '@bmg/proto/webhooks';
import type { State } from '../edge/state';
import { loggedText } from '../endpoints/events/rows';
import { contentBytesWithin } from '../endpoints/parts/page-bytes';
import type { AnswerRoom } from '../limits/answers';
import type { Load } from '../limits/load';
import { withoutTexts } from './without-texts';

export type EventStreams = ReturnType<typeof createEventStreams>;

export interface StreamReader {
  partner_id: string;
  /** Throws when the session is over. */
  check(call: Call): Promise<unknown>;
}

interface Dependencies {
  events: Client<EventLogDefinition>;
  load: Pick<Load, 'enterStream' | 'answerRoom' | 'read_rate'>;
  /** Events have the texts that customers wrote. */
  shows_texts: boolean;
  log: Logger;
}

/** One read of the log, and so the interval of heartbeats. */
const WAIT_S = 10;
const CALL_LIMIT_MS = 20_000;
const PAGE = 200;
/** The most memory that a page takes. */
const PAGE_BYTES = 512 * 1024;
const CONTENT_BYTES = contentBytesWithin(PAGE_BYTES, PAGE);
/**
 * Pause between the pages of older events that all streams of a partner read, one page at a time.
 */
const CATCH_UP_APART_MS = 50;
/** Pause until the partner's other answers leave room for a page. */
const NO_ROOM_MS = 1_000;
/** After this many failed reads the stream ends, and the browser opens it again. */
const TRIES_MAX = 5;
/** Events that arrive in quick succession are read together. */
const APART_MS = 400;
/**
 * How often the session is checked while events arrive; without events each heartbeat checks it.
 */
const CHECK_EVERY_MS = 5_000;
/** A reader that takes no bytes for this long is disconnected. */
const SLOW_READER_MS = 15_000;
const RECONNECT_MS = 2_000;
const POSITION = /^\d{1,15}$/;

export function createEventStreams(deps: Dependencies) {
  const { events, load, log } = deps;
  const shown = (page: ListEventsResponse): ListEventsResponse =>
    deps.shows_texts ? page : { ...page, events: page.events.map(withoutTexts) };
  const stopped = new AbortController();
  const inTurn = createTurns();
  const end = (): void => stopped.abort();
  return {
    name: 'event-streams',
    async start(): Promise<void> {},
    drain: end,
    async stop(): Promise<void> {
      end();
    },
    /**
     * Answers with the events after the position that the request names. Resolves once it is open.
     */
    async open(context: Context, reader: StreamReader): Promise<void> {
      const { call } = context.state as State;
      const after = positionOf(context);
      const { partner_id } = reader;
      const leave = load.enterStream(partner_id);
      const room = load.answerRoom(partner_id);
      const read: Read = async (position, wait, call) =>
        shown(
          await events.listEvents(
            { partner_id, after: position, limit: PAGE, wait, max_bytes: CONTENT_BYTES },
            call,
          ),
        );
      const readOlder: Read = (position, _wait, call) =>
        inTurn(partner_id, async () => {
          await load.read_rate.turn(partner_id, 0, call.signal);
          room.resize(PAGE_BYTES);
          const page = await read(position, 0, call);
          await pause(CATCH_UP_APART_MS, call.signal);
          return page;
        });
      const free = (): void => {
        room.release();
        leave();
      };
      try {
        // A refusal is an ordinary error answer.
        const first = await readOlder(after, 0, call);
        const response = begin(context);
        const onBytes = (bytes: number): void => load.read_rate.count(partner_id, bytes);
        const reads = { first, read, readOlder };
        const rest = { onBytes, room, reader, call, stopped: stopped.signal, log };
        void follow({ response, ...reads, ...rest }).finally(free);
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

type Read = (position: number, wait: number, call: Call) => Promise<ListEventsResponse>;

interface Stream {
  response: ServerResponse;
  first: ListEventsResponse;
  /** Waits for events. */
  read: Read;
  /** Reads a page of events that are in the log already. */
  readOlder: Read;
  onBytes(bytes: number): void;
  /** Where the page in memory counts. */
  room: AnswerRoom;
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

async function follow({ response, first, reader, stopped, log, ...stream }: Stream) {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.once('error', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, stopped]);
  const call = (): Call => ({ ...stream.call, deadline: Date.now() + CALL_LIMIT_MS, signal });
  let checked = performance.now();
  let page = first;
  try {
    while (!signal.aborted) {
      await write(response, page, stream, signal);
      if (page.events.length === 0 || performance.now() - checked > CHECK_EVERY_MS) {
        await reader.check(call());
        checked = performance.now();
      }
      if (page.events.length > 0 && !page.has_more) await pause(APART_MS, signal);
      if (signal.aborted) return;
      page = page.has_more
        ? await catchUp(page.next, stream, call)
        : await stream.read(page.next, WAIT_S, call());
    }
  } catch (error) {
    if (!signal.aborted) log.debug({ err: error }, 'a stream of events ended');
  } finally {
    response.end();
  }
}

/** Waits while the partner's answers leave no room. */
async function catchUp(
  position: number,
  { readOlder }: Pick<Stream, 'readOlder'>,
  call: () => Call,
): Promise<ListEventsResponse> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await readOlder(position, 0, call());
    } catch (error) {
      const is_full = error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE';
      if (!is_full || tries === TRIES_MAX) throw error;
      await pause(NO_ROOM_MS, call().signal);
    }
  }
}

async function write(
  response: ServerResponse,
  { events }: ListEventsResponse,
  { room, onBytes }: Pick<Stream, 'room' | 'onBytes'>,
  signal: AbortSignal,
): Promise<void> {
  const lines = events.map((event) => `id: ${event.seq}\ndata: ${loggedText(event).text}\n\n`);
  const text = Buffer.from(lines.length > 0 ? lines.join('') : ': heartbeat\n\n');
  onBytes(text.length);
  room.force(text.length);
  if (!response.write(text)) {
    const slow = AbortSignal.timeout(SLOW_READER_MS);
    await once(response, 'drain', { signal: AbortSignal.any([signal, slow]) }).catch(() => {
      if (!signal.aborted) response.destroy();
    });
  }
  room.force(0);
}

/** Runs work in turns: one piece of each holder at a time, in order of arrival. */
function createTurns() {
  /** The last piece of work of each holder. */
  const last = new Map<string, Promise<unknown>>();
  return async <T>(holder: string, work: () => Promise<T>): Promise<T> => {
    const done = (last.get(holder) ?? Promise.resolve()).then(work, work);
    last.set(holder, done);
    try {
      return await done;
    } finally {
      if (last.get(holder) === done) last.delete(holder);
    }
  };
}
