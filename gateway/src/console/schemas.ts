import { choice, cursor, id, limit, object, overlapHours, text } from '../endpoints/parts/inputs';
import { EMAIL_MAX } from '../endpoints/people/rows';
import { updateWebhook, URL_MAX } from '../endpoints/webhook-endpoints/schemas';

const KEY_MAX = 200;
const ORIGIN_MAX = 255;
const CONNECT_ORIGINS_MAX = 20;

export const openSession = object({ partner_key: text(KEY_MAX, 'the partner key') }, [
  'partner_key',
]);

const TOKEN_MAX = 100;
const PASSKEY_NAME_MAX = 100;

const token = text(TOKEN_MAX, 'the token of an invitation');
const passkey_name = text(PASSKEY_NAME_MAX, 'a name for the passkey');
/** Its form is checked where it is verified. */
const response = { type: 'object', description: 'what the browser returned' } as const;

export const readInvitation = object({ token }, ['token']);

export const acceptInvitation = object({ token, name: passkey_name, response }, [
  'token',
  'name',
  'response',
]);

export const logInWithPasskey = object({ response }, ['response']);

export const addPasskey = object({ name: passkey_name, response }, ['name', 'response']);

export const renamePasskey = object({ name: passkey_name }, ['name']);

const contact = (description: string) =>
  ({ type: ['string', 'null'], maxLength: EMAIL_MAX, description }) as const;

export const updateSettings = object({
  ...updateWebhook.properties,
  connect_origins: {
    type: 'array',
    items: text(ORIGIN_MAX, 'an origin such as https://shop.example.com'),
    maxItems: CONNECT_ORIGINS_MAX,
    description:
      'origins of your pages, HTTPS: `success_url` and `failure_url` of a connect session must be of one of them, and its `origin` must be one unless the list is empty',
  },
  logo_url: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: URL_MAX,
    description:
      'a PNG, JPEG or WebP picture of at most 256 KiB for the sign-up page, HTTPS and public; null for none',
  },
  contacts: {
    type: 'object',
    additionalProperties: false,
    properties: {
      technical: contact('an e-mail address of those who run your servers; null for none'),
      billing: contact('an e-mail address of those who pay; null for none'),
    },
    description: 'the addresses to which the operator writes',
  },
  alerts: {
    type: 'object',
    additionalProperties: false,
    properties: {
      spend_per_day: {
        type: ['string', 'null'],
        maxLength: 20,
        minLength: 1,
        description: 'a decimal, in the currency of the rate card',
      },
      failure_rate: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 100,
        description: 'percent of the messages of a day',
      },
      webhook_failures: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 1_000_000,
        description: 'events of a day that your receiver has not accepted',
      },
      quality_drops: { type: ['boolean', 'null'], description: 'true: alert' },
      unpaid_slots: { type: ['boolean', 'null'], description: 'true: alert' },
    },
    description: 'thresholds by cause; null ends the alerts of a cause',
  },
});

export const rotateSecret = overlapHours('signs');

export const openCardPage = object({
  return_url: text(URL_MAX, 'where the browser goes afterwards: an address of the gateway'),
});

const ENDPOINT_MAX = 200;
const REQUEST_ID_MAX = 128;
const REQUESTS_MAX = 100;

export const listRequests = object({
  endpoint: text(ENDPOINT_MAX, 'method and path, such as `POST /messages/send`'),
  status: choice(['2', '4', '5', 'failed'], 'the first digit of the status; `failed`: 4 and 5'),
  key_id: id('an API key; `partner_key` for the calls without one'),
  request_id: text(REQUEST_ID_MAX, 'its request ID'),
  id: id('one call of the list'),
  limit: limit(undefined, REQUESTS_MAX),
  cursor: cursor('`after` of the previous page'),
});
