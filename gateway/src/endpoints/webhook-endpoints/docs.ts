import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';
import { destinationAnswer } from './destination';
import { FORMATS } from './schemas';

const ENDPOINT_ID = 'whe_01k5x3v9m2c4e6g8j0n1p3r5t7';

const health = is.record(
  {
    last_success_at: is.orNull(is.time('The last delivery that it took.')),
    failing_since: is.orNull(
      is.time('Since when every attempt has failed. After five days the endpoint is disabled.'),
    ),
    last_error: is.orNull(is.text('HTTP 503', 'Of the last failure.')),
    last_http_status: is.orNull(is.whole(503)),
    delivered: is.whole(1_204, 'Attempts of the last 24 hours that it took.'),
    refused: is.whole(3, 'Attempts of the last 24 hours that failed.'),
    retrying: is.whole(0, 'Deliveries that wait for an attempt.'),
    failed: is.whole(0, 'Deliveries that were given up: see `GET /webhooks/failed`.'),
  },
  { title: 'WebhookEndpointHealth' },
);

const endpoint = is.record(
  {
    endpoint_id: is.text(ENDPOINT_ID),
    url: is.orNull(is.text('https://crm.example.com/messages', 'Null: a destination.')),
    destination: destinationAnswer,
    description: is.text('CRM'),
    events: is.orNull(is.list(is.text('message.*'), 'Null: all.')),
    waba_ids: is.orNull(is.list(is.text('900000000000001'), 'Null: all.')),
    phone_number_ids: is.orNull(is.list(is.text('800000000000001'), 'Null: all.')),
    header_names: is.list(is.text('x-crm-token'), 'Names of its headers; the values are secret.'),
    max_per_second: is.orNull(is.whole(20)),
    status: is.choice(
      ['active', 'paused', 'disabled', 'untested'],
      '`disabled`: by the gateway, after five days of failure. `untested`: it gets no events until it answers a test event with 2xx.',
    ),
    ordered: is.flag(true),
    format: is.choice(FORMATS),
    disabled_at: is.orNull(is.time()),
    previous_secret_expires_at: is.orNull(
      is.time('Until when the secret before the last rotation signs as well.'),
    ),
    created_at: is.time(),
    updated_at: is.time(),
    health,
  },
  { title: 'WebhookEndpoint' },
);

const webhook = is.record(
  {
    webhook_url: is.orNull(is.text('https://partner.example.com/webhooks', 'Null: none.')),
    extra_events: is.list(is.text('call.connect')),
    secret_created_at: is.orNull(is.time()),
    previous_secret_expires_at: is.orNull(
      is.time('Until when the secret before the last rotation signs as well.'),
    ),
  },
  { title: 'Webhook' },
);

const secret = is.text(
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  'Signs its deliveries, and begins with the same prefix as that of the webhook URL. It is shown only now: store it.',
);
export const getWebhook: RowDocs = {
  operation: 'getWebhook',
  answer: is.record({ webhook }),
  notes: 'The webhook URL gets all events of the contract. Its secret is never shown.',
};

export const updateWebhook: RowDocs = {
  operation: 'updateWebhook',
  answer: is.record({ webhook }),
  example: { webhook_url: 'https://partner.example.com/webhooks' },
  notes: '`POST /webhook-endpoints` adds further receivers, with filters.',
};

export const rotateWebhookSecret: RowDocs = {
  answer: is.record({ secret }),
  example: { overlap_hours: 24 },
  notes:
    'Makes a new secret for the webhook URL. For `overlap_hours` more, deliveries carry the signatures of both in `webhook-signature`; `x-service-signature` is made with the new one only.',
};

const secretOfUrl = is.orNull({
  ...secret,
  description: `${secret.description} Null: a destination, which has none.`,
});

const params = { endpoint_id: is.text(ENDPOINT_ID, 'ID of the endpoint.') };

const CHECK =
  'The address gets a signed event `webhook.test` first and must answer it with 2xx; a destination must store it. Otherwise nothing is changed, and the error names the field with the reason.';

export const listWebhookEndpoints: RowDocs = {
  answer: is.record({
    endpoints: is.list(endpoint, 'The oldest first.'),
    endpoints_max: is.whole(10, 'As many as you may have.'),
  }),
  notes:
    'Lists the endpoints that get events beside your webhook URL, with how their deliveries go. The webhook URL itself is not among them.',
};

export const getWebhookEndpoint: RowDocs = {
  params,
  answer: is.record({ endpoint }),
  codes: ['NOT_FOUND'],
  notes:
    'Returns an endpoint with how its deliveries go. Its secret, the values of its headers and the credentials of its destination are not shown.',
};

export const createWebhookEndpoint: RowDocs = {
  answer: is.record({ endpoint, secret: secretOfUrl }),
  example: {
    url: 'https://crm.example.com/messages',
    description: 'CRM',
    events: ['message.*'],
    headers: { 'x-crm-token': 'a-token-of-yours' },
    max_per_second: 20,
  },
  codes: ['LIMIT_REACHED'],
  notes: `Adds an endpoint beside your webhook URL, which keeps getting every event. With a new secret, a URL is \`untested\` until it answers a signed event \`webhook.test\` with 2xx: the gateway posts one after this answer, four times in eleven minutes at most, and \`POST /webhook-endpoints/{endpoint_id}/test\` posts one now. With your own \`secret\`, and for a destination: ${CHECK.charAt(0).toLowerCase()}${CHECK.slice(1)}`,
};

export const updateWebhookEndpoint: RowDocs = {
  params,
  answer: is.record({ endpoint }),
  example: { status: 'paused' },
  codes: ['NOT_FOUND', 'MISSING_FIELDS'],
  notes: `Changes what is given and keeps the rest; null removes a filter, the headers or the limit. Of a destination, settings that are absent stay, and null sets the default; its type cannot change. For another server, give its headers or its password again: stored ones are not sent there. After a change of the address, the destination, the headers or the format, and to enable an untested or a disabled endpoint: ${CHECK.charAt(0).toLowerCase()}${CHECK.slice(1)} Deliveries that wait for it are attempted at once.`,
};

export const deleteWebhookEndpoint: RowDocs = {
  params,
  answer: is.nothing,
  codes: ['NOT_FOUND'],
  notes: 'Removes an endpoint with the deliveries that wait for it.',
};

export const rotateEndpointSecret: RowDocs = {
  params,
  answer: is.record({ endpoint, secret }),
  example: { overlap_hours: 24 },
  codes: ['NOT_FOUND'],
  notes:
    'Makes a new secret for the endpoint, which must have a URL. For `overlap_hours` more, deliveries carry the signatures of both in `webhook-signature`; `x-service-signature` is made with the new one only.',
};

export const testWebhookEndpoint: RowDocs = {
  params,
  answer: is.record({
    event_id: is.text(is.EVENT_ID),
    event: is.text('webhook.test'),
    delivered: is.flag(true, 'Whether it answered 2xx, or stored the event.'),
    http_status: is.orNull(is.whole(200, 'Null for a destination.')),
    duration_ms: is.whole(38),
    error: is.orNull(is.text('timeout', 'The failure in a word.')),
  }),
  codes: ['NOT_FOUND'],
  notes:
    'Sends one event `webhook.test` now, signed for a URL, and reports the answer. It is neither stored nor retried. A paused or disabled endpoint can be tested too; an untested one becomes active when it answers 2xx.',
};

export const listEndpointAttempts: RowDocs = {
  params,
  answer: is.record({
    attempts: is.list(
      is.record(
        {
          event_id: is.text(is.EVENT_ID),
          event: is.text('message.received'),
          number: is.whole(1, '1 for the first attempt of a delivery.'),
          at: is.time(),
          duration_ms: is.whole(42),
          delivered: is.flag(true, 'Whether it answered 2xx, or stored the event.'),
          http_status: is.orNull(is.whole(200)),
          error: is.orNull(is.text('HTTP 503')),
        },
        { title: 'WebhookEndpointAttempt' },
      ),
      'The newest first, 100 at most.',
    ),
  }),
  codes: ['NOT_FOUND'],
  notes: 'Lists the latest attempts, whatever their events. They appear within a second.',
};
