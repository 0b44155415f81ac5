import type { Schema } from '../parts/schema';
import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const EVENT_ID = 'evt_8_kN_6GiC20OAm37bI2WmT1pXl0Jd5qYcR4uZs7aVtE';

const last_http_status = is.orNull(is.whole(200, 'Status of the last attempt.'));

const delivery = is.record(
  {
    status: is.choice(
      ['pending', 'delivered', 'retrying', 'failed', 'dropped'],
      '`dropped`: you had no webhook URL, or the event is not for you any more.',
    ),
    attempts: is.whole(1, 'Delivery attempts so far.'),
    last_http_status,
    last_duration_ms: is.orNull(is.whole(84, 'How long your receiver took to answer it.')),
    delivered_at: is.orNull(is.time()),
  },
  { title: 'EventDelivery', description: 'How the delivery to your webhook URL stands.' },
);

const envelope = is.record(
  {
    event: is.text('message.received'),
    waba_id: is.orNull(is.text('900000000000001', 'Null for an event of your account.')),
    phone_number_id: is.orNull(
      is.text('800000000000001', 'Null for an event of the business account.'),
    ),
    timestamp: is.whole(1_790_000_000, 'Epoch seconds.'),
    data: is.node({}, { description: 'What happened: the `data` of the event of this name.' }),
    meta: is.event_meta,
  },
  { title: 'EventEnvelope', description: 'The event, as it is posted to a webhook URL.' },
);

const logged: Record<string, Schema> = {
  seq: is.whole(4711, 'Position of the event in your log. Positions have no gaps.'),
  event_id: is.text(EVENT_ID, 'ID of the event: the `webhook-id` of its deliveries.'),
  event: is.text('message.received'),
  logged_at: is.time('When the event entered the log.'),
  envelope,
  delivery,
};

export const listEvents: RowDocs = {
  answer: is.record({
    events: is.list(is.record(logged, { title: 'LoggedEvent' })),
    next: is.whole(4711, 'Pass it as `after` to continue.'),
    has_more: is.flag(false, 'Whether there are events after `next` already.'),
    oldest: is.whole(1, 'The oldest position that is kept.'),
    newest: is.whole(4711, 'The newest position.'),
    limit: is.used_limit,
  }),
  codes: ['RATE_LIMIT_EXCEEDED'],
  notes:
    'Each event has a position, `seq`. Positions grow by one, and nothing ever appears at or below a position that was handed out, so reading on from `next` misses and repeats nothing. An `after` older than `oldest` is refused with `details.oldest`. A filter can leave a page empty while `has_more` is true: continue from `next`. A page searches 20,000 positions, and with `contact` 8 MiB of events. At most 16 requests of a partner wait at a time.',
};

const attempt = is.record(
  {
    number: is.whole(1),
    at: is.time(),
    duration_ms: is.whole(84),
    http_status: is.orNull(is.whole(200, 'Null if your receiver did not answer.')),
    error: is.orNull(is.text('timeout', 'Why the attempt failed.')),
    answer: is.orNull(is.text('ok', 'The first 1,024 bytes of your answer.')),
    url: is.orNull(
      is.text(
        'https://example.com/hook?***',
        'The address, without the values of its query; of a destination also its topic, queue or bucket.',
      ),
    ),
    secret: is.orNull(
      is.text(
        '9f86d081',
        'Which secret signed `x-service-signature`: the first 8 hexadecimal digits of its SHA-256. Null for a destination.',
      ),
    ),
    endpoint_id: is.orNull(is.text('whe_01k5x3v9m2c4e6g8j0n1p3r5t7', 'Null: your webhook URL.')),
  },
  { title: 'DeliveryAttempt' },
);

export const getEvent: RowDocs = {
  params: { event_id: is.text(EVENT_ID, 'ID of the event.') },
  answer: is.record({
    ...logged,
    attempts: is.list(
      attempt,
      'The attempts, the first one first; the latest 100 if there were more.',
    ),
  }),
  codes: ['NOT_FOUND'],
  notes:
    'The event as it was sent to your webhook URL, and what each attempt was answered. An event enters the log within some tenths of a second of its first attempt; until then the answer is `NOT_FOUND`.',
};

const replay = is.record(
  {
    replay_id: is.text('rpl_01k5x3', 'ID of the replay.'),
    status: is.choice(['running', 'completed', 'failed']),
    first: is.whole(1, 'The first position of the replay.'),
    last: is.whole(4711, 'The last position of the replay.'),
    position: is.whole(2300, 'Everything up to this position is done.'),
    delivered: is.whole(512, 'Events delivered so far.'),
    created_at: is.time(),
    ended_at: is.orNull(is.time()),
    failed_event_id: is.orNull(
      is.text(EVENT_ID, 'The event that your receiver refused four times: the replay ended there.'),
    ),
    error: is.orNull(
      is.text('HTTP 503', 'How it was refused, or that the replay did not finish within 24 hours.'),
    ),
  },
  { title: 'Replay' },
);

export const replayEvents: RowDocs = {
  answer: replay,
  example: { from: '2026-09-01T12:00:00Z', to: '2026-09-01T13:00:00Z', event: 'message.received' },
  codes: ['RATE_LIMIT'],
  notes:
    'Delivers events again, in the background: with the same `webhook-id`, in the order of the log within a conversation, with few attempts at a time so that live events do not wait. One replay of a partner runs at a time, for at most 24 hours, and takes turns with those of other partners. Events that were delivered before are delivered again.',
};

export const getReplay: RowDocs = {
  params: { replay_id: is.text('rpl_01k5x3', 'ID of the replay.') },
  answer: replay,
  codes: ['NOT_FOUND'],
  notes:
    'A replay is over when its status is no longer `running`. A failed one can be continued by another replay: the events after `position` are left, and `GET /events?after=` lists them.',
};
