// The EventLog RPCs.
import { invalidField } from '@bmg/common/errors';
import { inTurns } from '@bmg/common/lifecycle';
import { INVALID_CONTACT, parseContact } from '@bmg/common/messages';
import { HOP_MS, implement, type Call } from '@bmg/common/rpc';
import { periodOf } from '@bmg/common/time';
import {
  EventLogDefinition,
  type GetEventResponse,
  type ListEventsRequest,
  type ListEventsResponse,
  type LoggedEvent,
  type Replay,
} from '@bmg/proto/webhooks';
import type { EventLog } from './event-log';
import { noSuchEvent, type EventWithAttempts, type ReadEvent } from './reader';
import type { ReplayRunner } from './replay';
import { withoutNulls } from '../ground/without-nulls';
import type { Replay as StoredReplay } from './store/replays';

export interface EventLogHandlers extends Pick<EventLog, 'reader' | 'reads' | 'waiters'> {
  replays: Pick<ReplayRunner, 'create' | 'find'>;
}

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;
const WAIT_MAX_S = 20;
const NAMES_MAX = 50;
const FIND_MAX = 1_000;
/** Time reserved before the deadline for the last read of a call. */
const READ_MS = 2_000;

export const createEventLogHandlers = (deps: EventLogHandlers) =>
  implement(EventLogDefinition, {
    listEvents: (request, call) => listEvents(deps, request, call),
    getEvent: ({ partner_id, event_id }, call) =>
      deps.reads.hold(partner_id, call, async (room) => {
        const [found] = await deps.reader.find(partner_id, [event_id], room, 'with_answers');
        if (!found) throw noSuchEvent();
        return eventWithAttempts(found);
      }),
    async replayEvents({ partner_id, endpoint_id, waba_id, event_ids, event, ...period }, call) {
      const filter = { waba_id, events: namesOf(event) };
      const request = { partner_id, endpoint_id, event_ids, ...filter, ...periodOf(period) };
      return deps.reads.hold(partner_id, call, async (room) =>
        replayOf(await deps.replays.create(request, room)),
      );
    },
    async getReplay({ partner_id, replay_id }) {
      return replayOf(await deps.replays.find(partner_id, replay_id));
    },
    async findEvents({ partner_id, event_ids }, call) {
      if (event_ids.length > FIND_MAX) {
        throw invalidField('event_ids', `must have at most ${FIND_MAX} items`);
      }
      return deps.reads.hold(partner_id, call, async (room) => {
        const found = await deps.reader.find(partner_id, event_ids, room);
        return { events: found.map(eventWithAttempts) };
      });
    },
  });

async function listEvents(
  { reader, reads, waiters }: EventLogHandlers,
  request: ListEventsRequest,
  call: Call,
): Promise<ListEventsResponse> {
  const { deadline, signal } = call;
  const { partner_id, waba_id, after, limit, wait, max_bytes } = request;
  if (wait < 0 || wait > WAIT_MAX_S) throw invalidField('wait', `must be 0 to ${WAIT_MAX_S}`);
  const query = {
    partner_id,
    waba_id,
    after,
    limit: Math.min(limit || LIMIT_DEFAULT, LIMIT_MAX),
    max_bytes,
    events: namesOf(request.event),
    contact: contactOf(request.contact),
    ...periodOf(request),
  };
  const until = Math.min(performance.now() + wait * 1_000, latest(deadline));
  const place = wait > 0 ? waiters.enter(partner_id, query) : undefined;
  try {
    return await reads.hold(partner_id, call, async (room) => {
      let page = await reader.page(query, room);
      while (place) {
        const left_ms = until - performance.now();
        const is_settled = page.events.length > 0 || page.has_more;
        const is_over = query.to !== undefined && query.to.getTime() < Date.now();
        if (is_settled || is_over || left_ms <= 0 || signal?.aborted) break;
        if (!(await place.wait(page.newest, left_ms, signal))) break;
        page = await reader.page({ ...query, after: Math.max(page.next, place.passed()) }, room);
      }
      const events: LoggedEvent[] = [];
      await inTurns(page.events, (event) => events.push(loggedEvent(event)));
      return { ...page, events };
    });
  } finally {
    place?.leave();
  }
}

/** The latest monotonic time at which a read can start and still meet the deadline. */
const latest = (deadline: number): number =>
  performance.now() + deadline - Date.now() - HOP_MS - READ_MS;

function namesOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  if (names.length > NAMES_MAX || names.some((name) => name === '')) {
    throw invalidField('event', `must be 1 to ${NAMES_MAX} event names, comma-separated`);
  }
  return names;
}

/** Returns the contact as events name it. */
function contactOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const contact = parseContact(text);
  if (!contact) throw invalidField('contact', INVALID_CONTACT);
  return 'phone' in contact ? contact.phone : contact.bsuid;
}

const loggedEvent = (event: ReadEvent): LoggedEvent => ({
  seq: event.seq,
  event_id: event.event_id,
  event: event.event,
  waba_id: event.waba_id,
  envelope: event.envelope.toString('utf8'),
  trace_id: event.trace_id,
  received_at: event.received_at,
  logged_at: event.logged_at,
  delivery: {
    status: event.status,
    attempts: event.attempts,
    last_http_status: event.last_http_status ?? undefined,
    last_duration_ms: event.last_duration_ms ?? undefined,
    delivered_at: event.delivered_at ?? undefined,
  },
});

const eventWithAttempts = (event: EventWithAttempts): GetEventResponse => ({
  event: loggedEvent(event),
  attempts: event.each_attempt.map(({ endpoint_id, ...attempt }) => ({
    ...withoutNulls(attempt),
    endpoint_id,
  })),
});

const replayOf = ({ _id, ...replay }: StoredReplay): Replay => ({
  replay_id: _id,
  ...withoutNulls(replay),
});
