import { EVENT_NAMES, EXTRA_EVENTS } from '@bmg/common/messages';
import { choice, idsOrNull, object, text } from '../parts/inputs';
import { destination } from './destination';

export const URL_MAX = 2_048;
const DESCRIPTION_MAX = 200;
const EVENTS_MAX = 50;
const HEADERS_MAX = 10;
const HEADER_NAME_MAX = 64;
const HEADER_VALUE_MAX = 1_024;
const MAX_PER_SECOND_MAX = 1_000;
const SECRET_MAX = 100;
export const FORMATS = ['envelope', 'cloudevents-structured', 'cloudevents-binary'] as const;

const prefixes = EVENT_NAMES.flatMap((name) =>
  name.includes('.') ? [`${name.slice(0, name.indexOf('.'))}.*`] : [],
);
/** What an endpoint can subscribe to: the names of events, and their first parts. */
export const EVENT_FILTERS = [...EVENT_NAMES, ...new Set(prefixes)];

export const headers = {
  type: ['object', 'null'],
  additionalProperties: { type: 'string', maxLength: HEADER_VALUE_MAX },
  propertyNames: { maxLength: HEADER_NAME_MAX },
  maxProperties: HEADERS_MAX,
  description:
    'Headers that each delivery carries, by name, for example a token of yours. They are stored encrypted and never shown again. Neither headers of the connection nor those that the gateway sets are allowed. Only a URL takes them.',
} as const;

const fields = {
  url: text(
    URL_MAX,
    'Public HTTPS address that gets the events. It must answer a signed test event with 2xx. Either `url` or `destination` is required.',
  ),
  description: text(DESCRIPTION_MAX, 'For your own use.'),
  events: {
    type: ['array', 'null'],
    items: choice(EVENT_FILTERS),
    minItems: 1,
    maxItems: EVENTS_MAX,
    description:
      'The events that it gets: names, or the first part of names with `.*`, such as `message.*`. Null: all but the extra events, which are sent only where they are named, or matched by a prefix that was written after release 2.10.',
  },
  waba_ids: idsOrNull(
    'ID of a registered business account.',
    'The business accounts whose events it gets. With accounts it gets no events without one, such as alerts. Null: all.',
  ),
  phone_number_ids: idsOrNull(
    'ID of a number.',
    'The numbers whose events it gets. Null: all, and events without a number.',
  ),
  headers,
  max_per_second: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: MAX_PER_SECOND_MAX,
    description: 'The most deliveries in a second, on average. Null: no limit.',
  },
  ordered: {
    type: 'boolean',
    description:
      'Whether the events of a conversation keep their order. Without it, none waits for another. Defaults to true.',
  },
  format: choice(
    FORMATS,
    'The form of a delivery: the `envelope` that your webhook URL gets, or a CloudEvent 1.0 with the envelope as its data, in the structured or the binary mode of HTTP; a destination takes the structured one. Defaults to `envelope`.',
  ),
} as const;

/** The row refuses a body without any of them: null is a value here. */
export const updateWebhook = object({
  webhook_url: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: URL_MAX,
    description: 'Public HTTPS address that gets the events. Null: none.',
  },
  extra_events: {
    type: 'array',
    items: choice(EXTRA_EVENTS),
    maxItems: EXTRA_EVENTS.length,
    description: 'The extra events that it gets beside all others. Empty: none.',
  },
});

/** Stored sealed; only the answer of the request has it. */
export const secret = {
  type: 'string',
  minLength: 1,
  maxLength: SECRET_MAX,
  writeOnly: true,
  description:
    'Your own secret for the signatures, in the form of the Standard Webhooks: the prefix, and the base64 of 24 to 64 random bytes. Give it where the receiver already verifies signatures: the test event is signed with it. Without it, the answer has a new one.',
} as const;

const status = choice(
  ['active', 'paused'],
  'A paused endpoint gets nothing; its events wait as if it had failed, two days at most. `active` also enables an untested or disabled one, after a test.',
);

export const createWebhookEndpoint = {
  ...object({ ...fields, destination, status, secret }),
  requiredOneOf: ['url', 'destination'],
  requiredOneOfMessage: 'url or destination is required',
};

/** The row refuses a body without any of them: null is a value here. */
export const updateWebhookEndpoint = object({
  ...fields,
  url: { ...fields.url, minLength: 1 },
  destination,
  status,
});
