import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const event_id = is.text('evt_01J6', 'the `webhook-id` of every try');
const last_http_status = is.orNull(is.whole(503));

export const listFailedEvents: RowDocs = {
  answer: is.record({
    count: is.whole(1),
    events: is.list(
      is.record(
        {
          event_id,
          event: is.text('message.received'),
          waba_id: is.text('900000000000001'),
          phone_number_id: is.orNull(is.text('800000000000001')),
          status: is.choice(['failed', 'retrying']),
          attempts: is.whole(3),
          created_at: is.time(),
          last_attempt_at: is.orNull(is.time()),
          next_attempt_at: is.orNull(is.time()),
          last_http_status,
          last_error: is.orNull(is.text('the receiver answered HTTP 503')),
          payload: is.node({}, { description: 'the whole event as it is sent' }),
        },
        { title: 'FailedEvent' },
      ),
    ),
    limit: is.used_limit,
    paging: is.record({ cursors: is.record({ after: is.orNull(is.text('MTc4ODI2')) }) }),
  }),
};

export const retryEvent: RowDocs = {
  answer: is.record({
    event_id,
    status: is.choice(['delivered', 'failed', 'retrying']),
    http_status: is.orNull(is.whole(200)),
  }),
  codes: ['NOT_FOUND'],
};

export const retryAllEvents: RowDocs = {
  answer: is.record({ queued: is.whole(2) }),
};
