import { WebhooksDefinition, type FailedEvent } from '@bmg/proto/webhooks';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, post, rpc, type Endpoint } from '../endpoint';
import { JsonText, toJsonText } from '../parts/json-text';
import { contentBytes, pageBytes } from '../parts/page-bytes';

const failedEvent = ({ payload, ...event }: FailedEvent): JsonText =>
  toJsonText({
    ...event,
    phone_number_id: event.phone_number_id ?? null,
    endpoint_id: event.endpoint_id ?? null,
    last_attempt_at: event.last_attempt_at ?? null,
    next_attempt_at: event.next_attempt_at ?? null,
    last_http_status: event.last_http_status ?? null,
    last_error: event.last_error ?? null,
    payload: new JsonText(payload),
  });

export const recovery: Endpoint[] = [
  get('/webhooks/failed', rpc(WebhooksDefinition, 'listFailedEvents'), {
    scope: 'partner',
    reads: 'log',
    query: schemas.listFailed,
    answer_bytes: ({ limit }) => pageBytes(limit),
    request: ({ query, partner_id }) => ({
      ...query,
      partner_id,
      max_bytes: contentBytes(query.limit),
    }),
    reply: ({ events, after, total }, { query }) => ({
      count: events.length,
      total,
      events: events.map(failedEvent),
      limit: query.limit,
      paging: { cursors: { after: after ?? null } },
    }),
    docs: docs.listFailedEvents,
    summary: 'List events that could not be delivered, oldest first',
  }),
  post('/webhooks/retry/:event_id', rpc(WebhooksDefinition, 'retryEvent'), {
    scope: 'partner',
    query: schemas.retryEvent,
    reply: ({ event_id, status, http_status }) => ({
      event_id,
      status,
      http_status: http_status ?? null,
    }),
    docs: docs.retryEvent,
    summary: 'Redeliver an event',
  }),
  post('/webhooks/retry-all', rpc(WebhooksDefinition, 'retryAllEvents'), {
    scope: 'partner',
    docs: docs.retryAllEvents,
    summary: 'Redeliver all events that could not be delivered',
  }),
];
