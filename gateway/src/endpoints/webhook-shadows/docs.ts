import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';
import { SOURCES } from './schemas';

const SHADOW_ID = 'shd_01k5x3v9m2c4e6g8j0n1p3r5t7';

const times = is.record(
  { p50_ms: is.orNull(is.whole(38)), p99_ms: is.orNull(is.whole(120)) },
  {
    title: 'WebhookShadowTimes',
    description: 'Times to the answer, up to a tenth too long. Null before the first event.',
  },
);

const answer = is.record(
  {
    http_status: is.orNull(is.whole(500, 'Null: no answer.')),
    error: is.orNull(is.text('HTTP 500')),
    duration_ms: is.whole(42),
  },
  { title: 'WebhookShadowAnswer' },
);

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
    is.record(
      {
        first: is.text('2xx', 'Class of the status, or the failure, such as `timeout`.'),
        shadow: is.text('5xx'),
        events: is.whole(3),
      },
      { title: 'WebhookShadowAnswers' },
    ),
    'Events by both answers, the most frequent first.',
  ),
  first: times,
  shadow: times,
};

const differences = is.list(
  is.record(
    {
      event_id: is.text(is.EVENT_ID),
      event: is.text('message.received'),
      at: is.time(),
      first: answer,
      shadow: answer,
    },
    { title: 'WebhookShadowDifference' },
  ),
  'The latest events that were answered differently, the newest first, 100 at most.',
);

const shadowWith = (comparison: ReturnType<typeof is.record>, title: string) =>
  is.record(
    {
      shadow_id: is.text(SHADOW_ID),
      url: is.text('https://new.example.com/hooks', 'Without its query.'),
      endpoint_id: is.orNull(
        is.text('whe_01k5x3v9m2c4e6g8j0n1p3r5t7', 'Null: compared with your webhook URL.'),
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
      ended_at: is.orNull(is.time('Null while it runs.')),
      comparison,
    },
    { title },
  );

const shadow = shadowWith(
  is.record({ ...counts, differences }, { title: 'WebhookShadowComparison' }),
  'WebhookShadow',
);
const listed = shadowWith(
  is.record(counts, { title: 'WebhookShadowCounts' }),
  'ListedWebhookShadow',
);

const params = { shadow_id: is.text(SHADOW_ID, 'ID of the shadow.') };

export const startWebhookShadow: RowDocs = {
  answer: is.record({
    shadow,
    secret: is.text(
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
      'Signs its deliveries, and begins with the same prefix as that of the webhook URL. It is shown only now: store it.',
    ),
  }),
  example: { url: 'https://new.example.com/hooks', source: 'live', hours: 24 },
  codes: ['QUOTA_EXCEEDED'],
  notes:
    'Sends copies of the events of one of your receivers to a second address, each once, and compares the answers of both. The first receiver, its retries, its failed events and its health do not change. The address gets a signed event `webhook.test` first and must answer it with 2xx; otherwise nothing starts, and the error names the field with the reason. One runs at a time: 429 `QUOTA_EXCEEDED` with `details.shadow_id` until it has ended.',
};

export const listWebhookShadows: RowDocs = {
  answer: is.record({ shadows: is.list(listed, 'The newest first.') }),
  notes:
    'Lists the shadow that runs, and those that ended in the last seven days, 20 at most, with their comparisons but without single events.',
};

export const getWebhookShadow: RowDocs = {
  params,
  answer: is.record({ shadow }),
  codes: ['NOT_FOUND'],
  notes:
    'Returns a shadow with its comparison, which is at most a second old while it runs and kept for seven days after its end.',
};

export const stopWebhookShadow: RowDocs = {
  params,
  answer: is.record({ shadow }),
  codes: ['NOT_FOUND'],
  notes: 'Ends a shadow now. Its comparison stays. One that has ended is returned as it is.',
};
