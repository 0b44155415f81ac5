// Shadow receivers: a second URL that gets copies of a receiver's events, and the comparison of
// both.
import { EndpointsDefinition } from '@bmg/proto/endpoints';
import { get, post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { choice, id, object, text, whole } from '../parts/inputs';
import { ofOne, partnerAddition } from '../parts/rows';
import type { Schema } from '../parts/schema';
import { shaped } from '../parts/shape';
import { secret as newSecret } from '../webhook-endpoints/answers';
import { changelogOf, CHECK_TIMEOUT_MS } from '../webhook-endpoints/rows';
import { headers, secret, URL_MAX } from '../webhook-endpoints/schemas';

const SOURCES = ['live', 'last_day'] as const;
const SHADOW_ID = 'shd_01k5x3v9m2c4e6g8j0n1p3r5t7';

const times = is.record(
  { p50_ms: is.maybe.whole(38), p99_ms: is.maybe.whole(120) },
  {
    title: 'WebhookShadowTimes',
    description: 'Times to the answer, up to a tenth too long. Null before the first event.',
  },
);

const answer = is.named('WebhookShadowAnswer', {
  http_status: is.maybe.whole(500, 'Null: no answer.'),
  error: is.maybe.text('HTTP 500'),
  duration_ms: is.whole(42),
});

const counts = {
  compared: is.whole(1_204, 'Events that both receivers got.'),
  different: is.whole(
    3,
    'Those of them that were answered differently: with another class of status, such as 5xx instead of 2xx, or not at all.',
  ),
  dropped: is.whole(
    0,
    'Events that the shadow did not get, because it was too slow or more came than `max_per_second`.',
  ),
  answers: is.list(
    is.named('WebhookShadowAnswers', {
      first: is.text('2xx', 'Class of the status, or the failure, such as `timeout`.'),
      shadow: is.text('5xx'),
      events: is.whole(3),
    }),
    'Events by both answers, the most frequent first.',
  ),
  first: times,
  shadow: times,
};

const differences = is.list(
  is.named('WebhookShadowDifference', {
    event_id: is.text(is.EVENT_ID),
    event: is.text('message.received'),
    at: is.time(),
    first: answer,
    shadow: answer,
  }),
  'The latest events that were answered differently, the newest first, 100 at most.',
);

const shadowWith = (comparison: Schema, title: string) =>
  is.record(
    {
      shadow_id: is.text(SHADOW_ID),
      url: is.text('https://new.example.com/hooks', 'Without its query.'),
      endpoint_id: is.maybe.text(
        'whe_01k5x3v9m2c4e6g8j0n1p3r5t7',
        'Null: compared with your webhook URL.',
      ),
      source: is.choice(SOURCES),
      max_per_second: is.whole(20),
      header_names: is.list(is.text('x-token'), 'Names of its headers; the values are secret.'),
      status: is.choice(
        ['running', 'completed', 'expired', 'stopped'],
        '`completed`: its time is over, or it got all events of the last day. `expired`: its time was too short for them. `stopped`: by you, or because your account is not active.',
      ),
      created_at: is.time(),
      ends_at: is.time('When it ends by itself.'),
      ended_at: is.maybe.time('Null while it runs.'),
      comparison,
    },
    { title },
  );

const shadow = shadowWith(
  is.named('WebhookShadowComparison', { ...counts, differences }),
  'WebhookShadow',
);
const listed = shadowWith(is.named('WebhookShadowCounts', counts), 'ListedWebhookShadow');

const ofShadow = ofOne({ shadow_id: is.text(SHADOW_ID, 'ID of the shadow.') });

const HOURS_MAX = 72;
const RATE_MAX = 100;

const shown = shaped(is.record({ shadow }));
/** Lists leave out the events that were answered differently. */
const shownInList = shaped(listed);

export const webhookShadows: Endpoint[] = [
  post('/webhook-shadows', rpc(EndpointsDefinition, 'startShadow'), {
    ...partnerAddition,
    hands_events: true,
    status: 201,
    timeout_ms: CHECK_TIMEOUT_MS,
    body: object(
      {
        url: text(
          URL_MAX,
          'Public HTTPS address to try. It must answer a signed test event with 2xx.',
        ),
        endpoint_id: id(
          'The webhook endpoint whose events it gets and whose answers it is compared with. It must have a URL. Defaults to your webhook URL.',
        ),
        source: choice(
          SOURCES,
          '`live`: the events from now on. `last_day`: those of the last 24 hours, from the event log.',
          'live',
        ),
        hours: whole(1, HOURS_MAX, 'Hours after which it ends by itself.', 24),
        max_per_second: whole(
          1,
          RATE_MAX,
          'The most deliveries in a second. Live events beyond it are dropped and counted; those of the last day take longer.',
          20,
        ),
        headers,
        secret,
      },
      ['url'],
    ),
    request: ({ body: { headers: by_name, secret, ...settings }, partner_id, base_url }) => ({
      partner_id,
      settings: { ...settings, headers: { by_name: by_name ?? {} } },
      changelog: changelogOf(base_url),
      secret,
    }),
    reply: ({ shadow, secret }) => ({ ...shown({ shadow }), secret }),
    audit: {
      values: ['endpoint_id', 'source', 'hours', 'max_per_second'],
      ids: { shadow_id: 'shadow.shadow_id' },
    },
    summary: 'Try a new receiver on your events',
    answer: is.record({
      shadow,
      secret: newSecret,
    }),
    example: { url: 'https://new.example.com/hooks', source: 'live', hours: 24 },
    codes: ['QUOTA_EXCEEDED'],
    notes:
      'Sends copies of the events of one of your receivers to a second address, each once, and compares the answers of both. The first receiver, its retries, its failed events and its health do not change. The address gets a signed event `webhook.test` first and must answer it with 2xx; otherwise nothing starts, and the error names the field with the reason. One runs at a time: 429 `QUOTA_EXCEEDED` with `details.shadow_id` until it has ended.',
  }),
  get('/webhook-shadows', rpc(EndpointsDefinition, 'listShadows'), {
    ...partnerAddition,
    reply: ({ shadows }) => ({ shadows: shadows.map(shownInList) }),
    summary: 'List shadow receivers',
    answer: is.record({ shadows: is.list(listed, 'The newest first.') }),
    notes:
      'Lists the shadow that runs, and those that ended in the last seven days, 20 at most, with their comparisons but without single events.',
  }),
  get('/webhook-shadows/:shadow_id', rpc(EndpointsDefinition, 'getShadow'), {
    ...ofShadow,
    reply: (shadow) => shown({ shadow }),
    summary: 'Compare a shadow receiver with the first one',
    answer: is.record({ shadow }),
    notes:
      'Returns a shadow with its comparison, which is at most a second old while it runs and kept for seven days after its end.',
  }),
  post('/webhook-shadows/:shadow_id/stop', rpc(EndpointsDefinition, 'stopShadow'), {
    ...ofShadow,
    audit: { reduces_risk: true },
    reply: (shadow) => shown({ shadow }),
    summary: 'Stop a shadow receiver',
    answer: is.record({ shadow }),
    notes: 'Ends a shadow now. Its comparison stays. One that has ended is returned as it is.',
  }),
];
