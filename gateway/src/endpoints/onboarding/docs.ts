import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const quality_rating = is.orNull(is.quality_rating);
const messaging_limit_tier = is.orNull(is.messaging_limit_tier);
const throughput_level = is.orNull(is.open(['STANDARD', 'HIGH']));
const params = { waba_id: is.text('900000000000001', 'ID of the business account.') };

const history = is.orNull(
  is.record(
    {
      phase: is.orNull(
        is.whole(
          1,
          'The latest phase that has arrived: 0 is the last day, 1 goes back 90 days, 2 goes back 180 days.',
        ),
      ),
      progress: is.orNull(is.whole(55, 'Percentage of the whole history. It never goes back.')),
      received_at: is.time('When its latest part arrived.'),
      error: is.orNull(
        is.record(
          {
            code: is.whole(2593109, 'Code of the platform. 2593109: your client declined.'),
            message: is.text('The business declined to share history'),
          },
          { description: 'Why the platform sends no history.' },
        ),
      ),
    },
    {
      title: 'HistorySync',
      description: 'How far the history has arrived. Null before its first part.',
    },
  ),
);

const data_sync = is.orNull(
  is.record(
    {
      status: is.choice(
        ['requested', 'waiting', 'expired'],
        '`waiting` while the gateway repeats a request that the platform has not accepted; `expired` once 24 hours have passed without it: your client must sign up again.',
      ),
      contacts_requested_at: is.orNull(is.time()),
      history_requested_at: is.orNull(is.time()),
      request_until: is.time('The end of the 24 hours after the sign-up.'),
      history,
    },
    {
      title: 'DataSync',
      description:
        'The sync of contacts and history, an addition. Null for a number that is not in use in the business app.',
    },
  ),
);

const client = is.record(
  {
    waba_id: is.text('900000000000001', 'ID of the business account.'),
    phone_number_id: is.text('800000000000001', 'ID of the number.'),
    phone_number: is.text(
      '15550100001',
      'The phone number. Match numbers by this field, never by `display_name`.',
    ),
    display_name: is.text('Example Shop'),
    connection_mode: is.choice(['coexistence']),
    status: is.choice(['active', 'deleted']),
    tier: is.open(['STANDARD']),
    quality_rating,
    messaging_limit_tier,
    throughput_level,
    registered_at: is.time(),
    last_activity_at: is.orNull(is.time()),
    health: is.open(
      ['connected', 'paused'],
      '`paused` while the number is offboarded and waits to be reconnected.',
    ),
    data_sync,
  },
  { title: 'ClientRecord' },
);

const SYNC = 'Either `requested`, or a text that starts with `failed:`.';
const coexistence_sync = is.record(
  {
    smb_app_state_sync: is.text('requested', SYNC),
    history: is.text('requested', SYNC),
  },
  { title: 'CoexistenceSync' },
);

const REGISTRATION_CODES = [
  'WABA_LIMIT_REACHED',
  'UPSTREAM_ERROR',
  'CARD_REQUIRED',
  'PAYMENT_FAILED',
  'PAYMENT_ACTION_REQUIRED',
] as const;
const CREATED_OR_UPDATED =
  'Answers 201 if the client is new and 200 if an existing client was updated, so the request is safe to repeat.';

export const registerFromCode: RowDocs = {
  answer: is.record(
    {
      client,
      state: is.text('order-4711', 'The `state` of the connect session.'),
      coexistence_sync,
    },
    { optional: ['state'] },
  ),
  example: { code: 'CODE-OF-THE-SIGN-UP-DIALOG', display_name: 'Example Shop' },
  codes: [
    'PLATFORM_NOT_CONFIGURED',
    'CODE_EXCHANGE_FAILED',
    'DISCOVERY_FAILED',
    ...REGISTRATION_CODES,
  ],
  notes: `Completes an embedded sign-up. Authenticate with your partner key, or with the token of a connect session in the header \`x-connect-token\`. A session can be completed until 30 minutes after it expired. ${CREATED_OR_UPDATED}`,
};

export const createConnectSession: RowDocs = {
  answer: is.record({
    connect_url: is.text(
      'https://gateway.example.com/connect?token=…',
      'Link to the hosted onboarding page. Open it in a popup.',
    ),
    token: is.text('…', 'Token of this session. It authorizes this one onboarding only.'),
    expires_in: is.whole(1800, 'Seconds until the link expires.'),
  }),
  example: {
    display_name: 'Example Shop',
    state: 'order-4711',
    origin: 'https://shop.example.com',
  },
  codes: ['QUOTA_EXCEEDED'],
  notes:
    'The link can be opened for 30 minutes, and completed for 30 minutes more. Create it on your server, one for each onboarding. Name the `origin` of the page that opens it: without it, the page that opened the link gets the outcome without the names and IDs of the client. A link without a page that opens it names `success_url` and `failure_url`: the sign-up page leads there.',
};

export const listOnboardingEvents: RowDocs = {
  answer: is.record({
    count: is.whole(1),
    events: is.list(
      is.record(
        {
          state: is.orNull(is.text('order-4711', 'The `state` of the connect session.')),
          current_step: is.text('COMPLETED'),
          error_code: is.orNull(is.text('CODE_EXCHANGE_FAILED')),
          error_message: is.orNull(is.text('This authorization code has expired.')),
          upstream_session_id: is.orNull(
            is.text('…', 'Trace ID of the upstream. Include it when you contact support.'),
          ),
          waba_id: is.orNull(is.text('900000000000001')),
          phone_number_id: is.orNull(is.text('800000000000001')),
          created_at: is.time(),
        },
        { title: 'OnboardingEvent' },
      ),
    ),
    limit: is.used_limit,
  }),
  notes: 'Shows at which step a sign-up stopped, and with which error.',
};

export const getEmbeddedSignupConfig: RowDocs = {
  answer: is.record({
    app_id: is.text('100000000000001'),
    config_id: is.text('200000000000001'),
    connection_mode: is.choice(['coexistence']),
    extras: is.node({
      setup: is.node({}),
      featureType: is.text('messaging_business_app_onboarding'),
      sessionInfoVersion: is.text('3'),
      version: is.text('v4'),
    }),
  }),
  codes: ['PLATFORM_NOT_CONFIGURED'],
  notes: 'Only needed if you host the sign-up dialog yourself. The hosted page does not need it.',
};

const counts = is.record({
  sent: is.whole(120),
  delivered: is.whole(118),
  read: is.whole(90),
  failed: is.whole(2),
  billable: is.whole(20),
  free: is.whole(98),
});

export const getUsage: RowDocs = {
  answer: is.record({
    period: is.record({ from: is.time(), to: is.time() }),
    endpoints: is.list(
      is.record({
        method: is.orNull(is.text('POST', 'Null for calls that were counted without it.')),
        endpoint: is.text(
          '/messages/send',
          'Path of the endpoint; `console` and the path for reads of the console’s pages; `/mcp` for requests of agents other than tool calls.',
        ),
        calls: is.whole(120),
        errors: is.whole(2),
      }),
    ),
    messages: is.byName(
      counts,
      'Counts by category, such as `service`, `utility`, `marketing` or `authentication`.',
    ),
    billing: is.record({
      slots: is.whole(1, 'Billing slots. One slot covers 3 business accounts.'),
      peak_active_wabas: is.whole(2, 'Most business accounts active at once in the month.'),
      active_wabas: is.whole(2, 'Business accounts active now.'),
      fee_usd: is.amount(10),
    }),
  }),
  notes:
    '`endpoints` counts requests, `messages` counts messages by category, `billing` shows the slots of the period.',
};

export const registerClient: RowDocs = {
  answer: is.record({ client, coexistence_sync }),
  example: {
    waba_id: '900000000000001',
    phone_number_id: '800000000000001',
    access_token: '<ACCESS_TOKEN>',
    display_name: 'Example Shop',
  },
  codes: REGISTRATION_CODES,
  notes: `${CREATED_OR_UPDATED} Registering a deleted client restores it.`,
};

export const listClients: RowDocs = {
  answer: is.record({
    clients: is.list(client),
    total: is.whole(1),
    limit: is.used_limit,
    offset: is.whole(0),
  }),
  notes: 'A business account with several registered numbers has one client per number.',
};

export const deleteClient: RowDocs = {
  params,
  answer: is.record({
    events_removed_by: is.time(
      'Until then, events that came before the deletion can be in your event log: `GET /events`.',
    ),
  }),
  codes: ['WABA_NOT_REGISTERED'],
  notes:
    'Messaging stops at once. Ask your operator to have the events removed earlier. To restore the client, register the same business account again.',
};

export const refreshClient: RowDocs = {
  params,
  answer: is.record({
    quality_rating,
    throughput_level,
    messaging_limit_tier,
    token_updated: is.flag(false, 'Whether the stored access token was replaced.'),
  }),
  example: {},
  codes: ['WABA_NOT_REGISTERED', 'UPSTREAM_ERROR'],
  notes:
    'Fetches the current values from the upstream. If `access_token` is given and the upstream accepts it, it replaces the stored token; if the upstream rejects it, the stored token stays.',
};

export const resubscribeWebhook: RowDocs = {
  params,
  answer: is.record({ message: is.text('the business account is subscribed to webhooks') }),
  codes: ['WABA_NOT_REGISTERED', 'UPSTREAM_ERROR'],
  notes: 'Restores the event flow of a business account. Safe to call at any time.',
};
