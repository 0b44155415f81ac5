import {
  EventLogDefinition,
  type DeliveryAttempt,
  type LoggedEvent,
  type Replay,
} from '@bmg/proto/webhooks';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, post, rpc, type Endpoint, type Fields } from '../endpoint';
import { JsonText, toJsonText } from '../parts/json-text';
import { contentBytes, pageBytes } from '../parts/page-bytes';

/** The longest `wait`, and the time of a read. */
const LIST_TIMEOUT_MS = 30_000;

const logged = ({ seq, event_id, event, logged_at, envelope, delivery }: LoggedEvent): Fields => ({
  seq,
  event_id,
  event,
  logged_at,
  envelope: new JsonText(envelope),
  delivery: {
    status: delivery?.status,
    attempts: delivery?.attempts,
    last_http_status: delivery?.last_http_status ?? null,
    last_duration_ms: delivery?.last_duration_ms ?? null,
    delivered_at: delivery?.delivered_at ?? null,
  },
});

export const loggedText = (event: LoggedEvent): JsonText => toJsonText(logged(event));

const attempt = (one: DeliveryAttempt): Fields => ({
  number: one.number,
  at: one.at,
  duration_ms: one.duration_ms,
  http_status: one.http_status ?? null,
  error: one.error ?? null,
  answer: one.answer ?? null,
  url: one.url ?? null,
  secret: one.secret ?? null,
  endpoint_id: one.endpoint_id ?? null,
});

const replay = (one: Replay): Fields => ({
  ...one,
  ended_at: one.ended_at ?? null,
  failed_event_id: one.failed_event_id ?? null,
  error: one.error ?? null,
});

export const events: Endpoint[] = [
  get('/events', rpc(EventLogDefinition, 'listEvents'), {
    scope: 'filter',
    reads: 'log',
    addition: true,
    query: schemas.listEvents,
    timeout_ms: LIST_TIMEOUT_MS,
    answer_bytes: ({ limit }) => pageBytes(limit),
    request: ({ query, partner_id, waba_id }) => ({
      ...query,
      partner_id,
      waba_id,
      max_bytes: contentBytes(query.limit),
    }),
    reply: ({ events, ...page }, { query }) => ({
      events: events.map(loggedText),
      ...page,
      limit: query.limit,
    }),
    docs: docs.listEvents,
    summary: 'Read your events as a log, from a position on',
  }),
  get('/events/:event_id', rpc(EventLogDefinition, 'getEvent'), {
    scope: 'partner',
    reads: 'log',
    addition: true,
    reply: ({ event, attempts }) => ({
      ...logged(event as LoggedEvent),
      attempts: attempts.map(attempt),
    }),
    docs: docs.getEvent,
    summary: 'Retrieve an event with every delivery attempt',
  }),
  post('/events/replay', rpc(EventLogDefinition, 'replayEvents'), {
    scope: 'filter',
    addition: true,
    hands_events: true,
    audit: { values: ['from', 'to', 'event'], ids: { replay_id: 'replay_id' } },
    body: schemas.replayEvents,
    reply: replay,
    docs: docs.replayEvents,
    summary: 'Deliver logged events again',
  }),
  get('/events/replays/:replay_id', rpc(EventLogDefinition, 'getReplay'), {
    scope: 'partner',
    addition: true,
    reply: replay,
    docs: docs.getReplay,
    summary: 'Retrieve the progress of a replay',
  }),
];
