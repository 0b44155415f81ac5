import { EventLogDefinition, type LoggedEvent } from '@bmg/proto/webhooks';
import { get, post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { id, instant, limit, object, RECIPIENT_MAX, text, whole } from '../parts/inputs';
import { JsonText, toJsonText } from '../parts/json-text';
import { contentBytes, pageBytes } from '../parts/page-bytes';
import { ofOne } from '../parts/rows';
import * as rules from '../parts/rules';
import { WHOLE_MAX } from '../parts/schema';
import { shaped } from '../parts/shape';

const EVENT_ID = 'evt_8_kN_6GiC20OAm37bI2WmT1pXl0Jd5qYcR4uZs7aVtE';

const delivery = is.record(
  {
    status: is.choice(
      ['pending', 'delivered', 'retrying', 'failed', 'dropped'],
      '`dropped`: you had no webhook URL, or the event is not for you any more.',
    ),
    attempts: is.whole(1, 'Delivery attempts so far.'),
    last_http_status: is.maybe.whole(200, 'Status of the last attempt.'),
    last_duration_ms: is.maybe.whole(84, 'How long your receiver took to answer it.'),
    delivered_at: is.maybe.time(),
  },
  { title: 'EventDelivery', description: 'How the delivery to your webhook URL stands.' },
);

const envelope = is.record(
  {
    event: is.text('message.received'),
    waba_id: is.maybe.text('900000000000001', 'Null for an event of your account.'),
    phone_number_id: is.maybe.text('800000000000001', 'Null for an event of the business account.'),
    timestamp: is.whole(1_790_000_000, 'Epoch seconds.'),
    data: is.node({}, { description: 'What happened: the `data` of the event of this name.' }),
    meta: is.event_meta,
  },
  { title: 'EventEnvelope', description: 'The event, as it is posted to a webhook URL.' },
);

const logged = {
  seq: is.whole(4711, 'Position of the event in your log. Positions have no gaps.'),
  event_id: is.text(EVENT_ID, 'ID of the event: the `webhook-id` of its deliveries.'),
  event: is.text('message.received'),
  logged_at: is.time('When the event entered the log.'),
  envelope,
  delivery,
};

const attempt = is.named('DeliveryAttempt', {
  number: is.whole(1),
  at: is.time(),
  duration_ms: is.whole(84),
  http_status: is.maybe.whole(200, 'Null if your receiver did not answer.'),
  error: is.maybe.text('timeout', 'Why the attempt failed.'),
  answer: is.maybe.text('ok', 'The first 1,024 bytes of your answer.'),
  url: is.maybe.text(
    'https://example.com/hook?***',
    'The address, without the values of its query; of a destination also its topic, queue or bucket.',
  ),
  secret: is.maybe.text(
    '9f86d081',
    'Which secret signed `x-service-signature`: the first 8 hexadecimal digits of its SHA-256. Null for a destination.',
  ),
  endpoint_id: is.maybe.text('whe_01k5x3v9m2c4e6g8j0n1p3r5t7', 'Null: your webhook URL.'),
});

const replay = is.named('Replay', {
  replay_id: is.text('rpl_01k5x3', 'ID of the replay.'),
  status: is.choice(['running', 'completed', 'failed']),
  first: is.whole(1, 'The first position of the replay.'),
  last: is.whole(4711, 'The last position of the replay.'),
  position: is.whole(2300, 'Everything up to this position is done.'),
  delivered: is.whole(512, 'Events delivered so far.'),
  created_at: is.time(),
  ended_at: is.maybe.time(),
  failed_event_id: is.maybe.text(
    EVENT_ID,
    'The event that your receiver refused four times: the replay ended there.',
  ),
  error: is.maybe.text(
    'HTTP 503',
    'How it was refused, or that the replay did not finish within 24 hours.',
  ),
});

const NAMES_MAX_LENGTH = 2_000;
const NAMES_MAX = 50;
const NAME = '\\s*[a-z][a-z0-9_.]*\\s*';
const WAIT_MAX_S = 20;

const names = {
  ...text(
    NAMES_MAX_LENGTH,
    'Only events with these names, comma-separated: `message.received,message.failed`.',
  ),
  pattern: `^${NAME}(,${NAME}){0,${NAMES_MAX - 1}}$`,
  errorMessage: `must be 1 to ${NAMES_MAX} event names, comma-separated`,
};

const EVENT_IDS_MAX = 1_000;

/** Either a period or ids: the service refuses both together. */
const replayed = {
  ...object({
    from: instant('Replays the events that entered the log at this time or later.'),
    to: instant(
      'Replays the events that entered the log at this time or earlier. Defaults to now.',
    ),
    event_ids: {
      type: 'array',
      items: id('ID of an event.'),
      minItems: 1,
      maxItems: EVENT_IDS_MAX,
      description: 'Replays these events. Cannot be combined with `from` and `to`.',
    },
    event: names,
    endpoint_id: id('Replays to this webhook endpoint. Defaults to your webhook URL.'),
  }),
  requiredOneOf: ['from', 'event_ids'],
  requiredOneOfMessage: 'from or event_ids is required',
  published: { allOf: rules.replayed },
};

/** The longest `wait`, and the time of a read. */
const LIST_TIMEOUT_MS = 30_000;

/** The envelope is JSON text, which is sent as it was stored. */
const shownEvent = shaped(is.record({ ...logged, envelope: {} }));
const shownAttempt = shaped(attempt);

const loggedFields = (event: LoggedEvent) =>
  shownEvent({ ...event, envelope: new JsonText(event.envelope) });

export const loggedText = (event: LoggedEvent): JsonText => toJsonText(loggedFields(event));

export const events: Endpoint[] = [
  get('/events', rpc(EventLogDefinition, 'listEvents'), {
    scope: 'filter',
    reads: 'log',
    addition: true,
    query: object({
      after: whole(
        0,
        WHOLE_MAX,
        'Returns events after this position: `next` of the last answer. 0 is the beginning of the log. Defaults to the oldest event that is kept.',
      ),
      limit: limit(100, 1_000),
      event: names,
      contact: {
        ...text(
          RECIPIENT_MAX,
          'Only events of messages from or to this phone number or BSUID, and of this contact.',
        ),
        published: rules.person,
      },
      from: instant('Only events that entered the log at this time or later.'),
      to: instant('Only events that entered the log at this time or earlier.'),
      wait: whole(
        0,
        WAIT_MAX_S,
        'Seconds to wait if there is no event yet. The answer comes as soon as there is one.',
        0,
      ),
    }),
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
    summary: 'Read your events as a log, from a position on',
    answer: is.record({
      events: is.list(is.named('LoggedEvent', logged)),
      next: is.whole(4711, 'Pass it as `after` to continue.'),
      has_more: is.flag(false, 'Whether there are events after `next` already.'),
      oldest: is.whole(1, 'The oldest position that is kept.'),
      newest: is.whole(4711, 'The newest position.'),
      limit: is.used_limit,
    }),
    codes: ['RATE_LIMIT_EXCEEDED'],
    notes:
      'Each event has a position, `seq`. Positions grow by one, and nothing ever appears at or below a position that was handed out, so reading on from `next` misses and repeats nothing. An `after` older than `oldest` is refused with `details.oldest`. A filter can leave a page empty while `has_more` is true: continue from `next`. A page searches 20,000 positions, and with `contact` 8 MiB of events. At most 16 requests of a partner wait at a time.',
  }),
  get('/events/:event_id', rpc(EventLogDefinition, 'getEvent'), {
    ...ofOne({ event_id: is.text(EVENT_ID, 'ID of the event.') }),
    reads: 'log',
    reply: ({ event, attempts }) => ({
      ...loggedFields(event as LoggedEvent),
      attempts: attempts.map(shownAttempt),
    }),
    summary: 'Retrieve an event with every delivery attempt',
    answer: is.record({
      ...logged,
      attempts: is.list(
        attempt,
        'The attempts, the first one first; the latest 100 if there were more.',
      ),
    }),
    notes:
      'The event as it was sent to your webhook URL, and what each attempt was answered. An event enters the log within some tenths of a second of its first attempt; until then the answer is `NOT_FOUND`.',
  }),
  post('/events/replay', rpc(EventLogDefinition, 'replayEvents'), {
    scope: 'filter',
    addition: true,
    hands_events: true,
    audit: { values: ['from', 'to', 'event'], ids: { replay_id: 'replay_id' } },
    body: replayed,
    reply: shaped(replay),
    summary: 'Deliver logged events again',
    answer: replay,
    example: {
      from: '2026-09-01T12:00:00Z',
      to: '2026-09-01T13:00:00Z',
      event: 'message.received',
    },
    codes: ['RATE_LIMIT'],
    notes:
      'Delivers events again, in the background: with the same `webhook-id`, in the order of the log within a conversation, with few attempts at a time so that live events do not wait. One replay of a partner runs at a time, for at most 24 hours, and takes turns with those of other partners. Events that were delivered before are delivered again.',
  }),
  get('/events/replays/:replay_id', rpc(EventLogDefinition, 'getReplay'), {
    ...ofOne({ replay_id: is.text('rpl_01k5x3', 'ID of the replay.') }),
    reply: shaped(replay),
    summary: 'Retrieve the progress of a replay',
    answer: replay,
    notes:
      'A replay is over when its status is no longer `running`. A failed one can be continued by another replay: the events after `position` are left, and `GET /events?after=` lists them.',
  }),
];
