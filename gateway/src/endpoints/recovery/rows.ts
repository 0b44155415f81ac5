import { WebhooksDefinition } from '@bmg/proto/webhooks';
import { get, post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { choice, id, limit, nextCursor, object } from '../parts/inputs';
import { JsonText, toJsonText } from '../parts/json-text';
import { contentBytes, pageBytes } from '../parts/page-bytes';
import { nextPage } from '../parts/rows';
import { shaped } from '../parts/shape';

const event_id = is.text('evt_01J6', 'ID of the event: the `webhook-id` of every attempt.');

const failedEvent = is.named('FailedEvent', {
  event_id,
  event: is.text('message.received'),
  waba_id: is.text('900000000000001'),
  phone_number_id: is.maybe.text('800000000000001'),
  endpoint_id: is.maybe.text('whe_01k5x3v9m2c4e6g8j0n1p3r5t7', 'Null: your webhook URL.'),
  status: is.choice(['failed', 'retrying']),
  attempts: is.whole(3, 'Delivery attempts so far.'),
  created_at: is.time(),
  last_attempt_at: is.maybe.time(),
  next_attempt_at: is.maybe.time('Null if no further attempt is scheduled.'),
  last_http_status: is.maybe.whole(503, 'Status of the last attempt.'),
  last_error: is.maybe.text('the receiver answered HTTP 503'),
  payload: is.node({}, { description: 'The complete event, as posted to your webhook URL.' }),
});
const shownEvent = shaped(failedEvent);

const retried = is.record({
  event_id,
  status: is.choice(['delivered', 'failed', 'retrying']),
  http_status: is.maybe.whole(200, 'Status your receiver answered with, if it answered.'),
});

export const recovery: Endpoint[] = [
  get('/webhooks/failed', rpc(WebhooksDefinition, 'listFailedEvents'), {
    scope: 'partner',
    reads: 'log',
    query: object({
      limit: limit(20, 100),
      cursor: nextCursor,
      status: choice(['failed', 'retrying'], 'Which events to list. Defaults to both.'),
    }),
    answer_bytes: ({ limit }) => pageBytes(limit),
    request: ({ query, partner_id }) => ({
      ...query,
      partner_id,
      max_bytes: contentBytes(query.limit),
    }),
    reply: ({ events, after, total }, { query }) => ({
      count: events.length,
      total,
      events: events.map(({ payload, ...event }) =>
        toJsonText(shownEvent({ ...event, payload: new JsonText(payload) })),
      ),
      limit: query.limit,
      ...nextPage(after),
    }),
    summary: 'List events that could not be delivered, oldest first',
    answer: is.record({
      count: is.whole(1, 'Events on this page.'),
      total: is.whole(1, 'Events on all pages.'),
      events: is.list(failedEvent),
      limit: is.used_limit,
      paging: is.nextPage('MTc4ODI2'),
    }),
    notes: 'An event leaves the list once it is delivered.',
  }),
  post('/webhooks/retry/:event_id', rpc(WebhooksDefinition, 'retryEvent'), {
    scope: 'partner',
    query: object({
      endpoint_id: id(
        'Redelivers to this webhook endpoint, as the list of failed events names it. Defaults to your webhook URL.',
      ),
    }),
    reply: shaped(retried),
    summary: 'Redeliver an event',
    params: { event_id: is.text('evt_01J6', 'ID of the event.') },
    answer: retried,
    codes: ['NOT_FOUND'],
    notes: 'Makes one delivery attempt now and reports its result.',
  }),
  post('/webhooks/retry-all', rpc(WebhooksDefinition, 'retryAllEvents'), {
    scope: 'partner',
    summary: 'Redeliver all events that could not be delivered',
    answer: is.record({
      queued: is.whole(2, 'Events queued for redelivery.'),
      joined: is.flag(false, 'Whether an earlier call started the run that this call joined.'),
    }),
    notes:
      'Answers once the events are queued. They are redelivered in their original order. One run takes place at a time, a second apart, or 10 ms for each event that the last one queued if that is more, 5 minutes at most. A call during a run joins it and answers its `queued` with `joined: true`; so does a call in the time after it that cannot wait for the next.',
  }),
];
