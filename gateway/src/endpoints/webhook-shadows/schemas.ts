import { id, object, text } from '../parts/inputs';
import { headers, secret, URL_MAX } from '../webhook-endpoints/schemas';

export const SOURCES = ['live', 'last_day'] as const;

const HOURS_MAX = 72;
const RATE_MAX = 100;

export const startWebhookShadow = object(
  {
    url: text(URL_MAX, 'Public HTTPS address to try. It must answer a signed test event with 2xx.'),
    endpoint_id: id(
      'The webhook endpoint whose events it gets and whose answers it is compared with. It must have a URL. Defaults to your webhook URL.',
    ),
    source: {
      type: 'string',
      enum: SOURCES,
      default: 'live',
      description:
        '`live`: the events from now on. `last_day`: those of the last 24 hours, from the event log.',
    },
    hours: {
      type: 'integer',
      minimum: 1,
      maximum: HOURS_MAX,
      default: 24,
      description: 'Hours after which it ends by itself.',
    },
    max_per_second: {
      type: 'integer',
      minimum: 1,
      maximum: RATE_MAX,
      default: 20,
      description:
        'The most deliveries in a second. Live events beyond it are dropped and counted; those of the last day take longer.',
    },
    headers,
    secret,
  },
  ['url'],
);
