// The answers about webhook endpoints, and about the webhook URL.
import { destinationAnswer } from './destination';
import { FORMATS } from './schemas';
import * as is from '../parts/answers';

const ENDPOINT_ID = 'whe_01k5x3v9m2c4e6g8j0n1p3r5t7';

const health = is.named('WebhookEndpointHealth', {
  last_success_at: is.maybe.time('The last delivery that it took.'),
  failing_since: is.maybe.time(
    'Since when every attempt has failed. After five days the endpoint is disabled.',
  ),
  last_error: is.maybe.text('HTTP 503', 'Of the last failure.'),
  last_http_status: is.maybe.whole(503),
  delivered: is.whole(1_204, 'Attempts of the last 24 hours that it took.'),
  refused: is.whole(3, 'Attempts of the last 24 hours that failed.'),
  retrying: is.whole(0, 'Deliveries that wait for an attempt.'),
  failed: is.whole(0, 'Deliveries that were given up: see `GET /webhooks/failed`.'),
});

export const endpoint = is.named('WebhookEndpoint', {
  endpoint_id: is.text(ENDPOINT_ID),
  url: is.maybe.text('https://crm.example.com/messages', 'Null: a destination.'),
  destination: destinationAnswer,
  description: is.text('CRM'),
  events: is.maybe.list(is.text('message.*'), 'Null: all.'),
  waba_ids: is.maybe.list(is.text('900000000000001'), 'Null: all.'),
  phone_number_ids: is.maybe.list(is.text('800000000000001'), 'Null: all.'),
  header_names: is.list(is.text('x-crm-token'), 'Names of its headers; the values are secret.'),
  max_per_second: is.maybe.whole(20),
  status: is.choice(
    ['active', 'paused', 'disabled', 'untested'],
    '`disabled`: by the gateway, after five days of failure. `untested`: it gets no events until it answers a test event with 2xx.',
  ),
  ordered: is.flag(true),
  format: is.choice(FORMATS),
  disabled_at: is.maybe.time(),
  previous_secret_expires_at: is.maybe.time(
    'Until when the secret before the last rotation signs as well.',
  ),
  created_at: is.time(),
  updated_at: is.time(),
  health,
});

export const webhook = is.named('Webhook', {
  webhook_url: is.maybe.text('https://partner.example.com/webhooks', 'Null: none.'),
  extra_events: is.list(is.text('call.connect')),
  secret_created_at: is.maybe.time(),
  previous_secret_expires_at: is.maybe.time(
    'Until when the secret before the last rotation signs as well.',
  ),
});

export const secret = is.text(
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  'Signs its deliveries, and begins with the same prefix as that of the webhook URL. It is shown only now: store it.',
);

export const secretOfUrl = is.orNull({
  ...secret,
  description: `${secret.description} Null: a destination, which has none.`,
});

export const tested = is.record({
  event_id: is.text(is.EVENT_ID),
  event: is.text('webhook.test'),
  delivered: is.flag(true, 'Whether it answered 2xx, or stored the event.'),
  http_status: is.maybe.whole(200, 'Null for a destination.'),
  duration_ms: is.whole(38),
  error: is.maybe.text('timeout', 'The failure in a word.'),
});

export const attempts = is.record({
  attempts: is.list(
    is.named('WebhookEndpointAttempt', {
      event_id: is.text(is.EVENT_ID),
      event: is.text('message.received'),
      number: is.whole(1, '1 for the first attempt of a delivery.'),
      at: is.time(),
      duration_ms: is.whole(42),
      delivered: is.flag(true, 'Whether it answered 2xx, or stored the event.'),
      http_status: is.maybe.whole(200),
      error: is.maybe.text('HTTP 503'),
    }),
    'The newest first, 100 at most.',
  ),
});

export const params = { endpoint_id: is.text(ENDPOINT_ID, 'ID of the endpoint.') };
