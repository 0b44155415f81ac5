import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const event_id = is.text('evt_01J6', 'ID of the event: the `webhook-id` of every attempt.');
const last_http_status = is.orNull(is.whole(503, 'Status of the last attempt.'));

export const listFailedEvents: RowDocs = {
  answer: is.record({
    count: is.whole(1, 'Events on this page.'),
    total: is.whole(1, 'Events on all pages.'),
    events: is.list(
      is.record(
        {
          event_id,
          event: is.text('message.received'),
          waba_id: is.text('900000000000001'),
          phone_number_id: is.orNull(is.text('800000000000001')),
          endpoint_id: is.orNull(
            is.text('whe_01k5x3v9m2c4e6g8j0n1p3r5t7', 'Null: your webhook URL.'),
          ),
          status: is.choice(['failed', 'retrying']),
          attempts: is.whole(3, 'Delivery attempts so far.'),
          created_at: is.time(),
          last_attempt_at: is.orNull(is.time()),
          next_attempt_at: is.orNull(is.time('Null if no further attempt is scheduled.')),
          last_http_status,
          last_error: is.orNull(is.text('the receiver answered HTTP 503')),
          payload: is.node(
            {},
            { description: 'The complete event, as posted to your webhook URL.' },
          ),
        },
        { title: 'FailedEvent' },
      ),
    ),
    limit: is.used_limit,
    paging: is.record({ cursors: is.record({ after: is.orNull(is.cursor('MTc4ODI2')) }) }),
  }),
  notes: 'An event leaves the list once it is delivered.',
};

export const retryEvent: RowDocs = {
  params: { event_id: is.text('evt_01J6', 'ID of the event.') },
  answer: is.record({
    event_id,
    status: is.choice(['delivered', 'failed', 'retrying']),
    http_status: is.orNull(is.whole(200, 'Status your receiver answered with, if it answered.')),
  }),
  codes: ['NOT_FOUND'],
  notes: 'Makes one delivery attempt now and reports its result.',
};

export const retryAllEvents: RowDocs = {
  answer: is.record({
    queued: is.whole(2, 'Events queued for redelivery.'),
    joined: is.flag(false, 'Whether an earlier call started the run that this call joined.'),
  }),
  notes:
    'Answers once the events are queued. They are redelivered in their original order. One run takes place at a time, a second apart, or 10 ms for each event that the last one queued if that is more, 5 minutes at most. A call during a run joins it and answers its `queued` with `joined: true`; so does a call in the time after it that cannot wait for the next.',
};
