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
    delivered_at: is.orNull(is.time()),
  },
  { title: 'EventDelivery', description: 'How the delivery to your webhook URL stands.' },
);

const logged: Record<string, Schema> = {
  seq: is.whole(4711, 'Position of the event in your log. Positions have no gaps.'),
  event_id: is.text(EVENT_ID, 'ID of the event: the `webhook-id` of its deliveries.'),
  event: is.text('message.received'),
  logged_at: is.time('When the event entered the log.'),
  envelope: is.node({}, { description: 'The event, as it is posted to a webhook URL.' }),
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
    'Each event has a position, `seq`. Positions grow by one, and nothing ever appears at or below a position that was handed out, so reading on from `next` misses and repeats nothing. An `after` older than `oldest` is refused with `details.oldest`. A filter can leave a page empty while `has_more` is true: continue from `next`. At most 16 requests of a partner wait at a time.',
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
      is.text('https://example.com/hook?***', 'The address, without the values of its query.'),
    ),
    secret: is.orNull(
      is.text(
        '9f86d081',
        'Which secret signed `x-service-signature`: the first 8 hexadecimal digits of its SHA-256.',
      ),
    ),
  },
  { title: 'DeliveryAttempt' },
);

export const getEvent: RowDocs = {
  params: { event_id: is.text(EVENT_ID, 'ID of the event.') },
  answer: is.record({
    ...logged,
    attempts: is.list(attempt, 'Every attempt, the first one first.'),
  }),
  codes: ['NOT_FOUND'],
  notes: 'The event as it was sent to your webhook URL, and what each attempt was answered.',
};
