import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

export const QUALITY = ['GREEN', 'YELLOW', 'RED'];
export const LIMIT_TIERS = ['TIER_250', 'TIER_1K', 'TIER_2K', 'TIER_10K', 'TIER_100K', 'UNLIMITED'];
const quality_rating = is.orNull(is.open(QUALITY));
const messaging_limit_tier = is.orNull(is.open(LIMIT_TIERS));
const throughput_level = is.orNull(is.open(['STANDARD', 'HIGH']));

const client = is.record(
  {
    waba_id: is.text('900000000000001', 'the business account'),
    phone_number_id: is.text('800000000000001', 'the number'),
    phone_number: is.text('15550100001', 'map numbers by this field, never by display_name'),
    display_name: is.text('Example Shop'),
    connection_mode: is.choice(['coexistence']),
    status: is.choice(['active', 'deleted']),
    tier: is.open(['STANDARD']),
    quality_rating,
    messaging_limit_tier,
    throughput_level,
    registered_at: is.time(),
    last_activity_at: is.orNull(is.time()),
    health: is.open(['connected', 'paused'], 'paused while the upstream re-links the number'),
  },
  { title: 'Client' },
);

const SYNC = '`requested`, or a text that begins with `failed:`';
const coexistence_sync = is.record(
  {
    smb_app_state_sync: is.text('requested', SYNC),
    history: is.text('requested', SYNC),
  },
  { title: 'CoexistenceSync' },
);

export const registerFromCode: RowDocs = {
  answer: is.record(
    { client, state: is.text('order-4711', 'as given with the session'), coexistence_sync },
    { optional: ['state'] },
  ),
  example: { code: 'CODE-OF-THE-SIGN-UP-DIALOG', display_name: 'Example Shop' },
  codes: [
    'PLATFORM_NOT_CONFIGURED',
    'CODE_EXCHANGE_FAILED',
    'DISCOVERY_FAILED',
    'WABA_LIMIT_REACHED',
    'UPSTREAM_ERROR',
    'PAYMENT_REQUIRED',
    'CARD_REQUIRED',
    'PAYMENT_FAILED',
    'PAYMENT_ACTION_REQUIRED',
  ],
  notes:
    'Takes the partner key, or the token of a connect session as `x-connect-token`. 201 when the client is new, 200 when it is brought up to date. Accepted until 30 minutes after the session has expired.',
};

export const createConnectSession: RowDocs = {
  answer: is.record({
    connect_url: is.text('https://gateway.example.com/connect?token=…', 'open it in a popup'),
    token: is.text('…', 'opens this one onboarding and nothing else'),
    expires_in: is.whole(1800, 'seconds'),
  }),
  example: { display_name: 'Example Shop', state: 'order-4711' },
};

export const listOnboardingEvents: RowDocs = {
  answer: is.record({
    count: is.whole(1),
    events: is.list(
      is.record(
        {
          state: is.orNull(is.text('order-4711')),
          current_step: is.text('COMPLETED'),
          error_code: is.orNull(is.text('CODE_EXCHANGE_FAILED')),
          error_message: is.orNull(is.text('This authorization code has expired.')),
          upstream_session_id: is.orNull(is.text('…', 'the upstream’s own trace id')),
          waba_id: is.orNull(is.text('900000000000001')),
          phone_number_id: is.orNull(is.text('800000000000001')),
          created_at: is.time(),
        },
        { title: 'OnboardingEvent' },
      ),
    ),
    limit: is.used_limit,
  }),
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
  notes: 'Needed only for a sign-up dialog of your own; the hosted page needs nothing.',
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
        endpoint: is.text('/messages/send'),
        calls: is.whole(120),
        errors: is.whole(2),
      }),
    ),
    messages: is.byName(counts, 'by category: service, utility, marketing, authentication …'),
    billing: is.record({
      slots: is.whole(1, 'one slot covers 3 business accounts'),
      peak_active_wabas: is.whole(2),
      active_wabas: is.whole(2),
      fee_usd: is.amount(10),
    }),
  }),
};

export const registerClient: RowDocs = {
  answer: is.record({ client, coexistence_sync }),
  example: {
    waba_id: '900000000000001',
    phone_number_id: '800000000000001',
    access_token: '<ACCESS_TOKEN>',
    display_name: 'Example Shop',
  },
  codes: [
    'WABA_LIMIT_REACHED',
    'UPSTREAM_ERROR',
    'PAYMENT_REQUIRED',
    'CARD_REQUIRED',
    'PAYMENT_FAILED',
    'PAYMENT_ACTION_REQUIRED',
  ],
  notes:
    '201 when the client is new, 200 when it is brought up to date. Registering a deleted client restores it.',
};

export const listClients: RowDocs = {
  answer: is.record({
    clients: is.list(client),
    total: is.whole(1),
    limit: is.used_limit,
    offset: is.whole(0),
  }),
};

export const deleteClient: RowDocs = {
  answer: is.nothing,
  codes: ['WABA_NOT_REGISTERED'],
  notes: 'Registering the same business account again restores it.',
};

export const refreshClient: RowDocs = {
  answer: is.record({
    quality_rating,
    throughput_level,
    messaging_limit_tier,
    token_updated: is.flag(false),
  }),
  example: {},
  codes: ['WABA_NOT_REGISTERED', 'UPSTREAM_ERROR'],
  notes: 'A token that the upstream refuses leaves the stored one in place.',
};

export const resubscribeWebhook: RowDocs = {
  answer: is.record({ message: is.text('the business account is subscribed to webhooks') }),
  codes: ['WABA_NOT_REGISTERED', 'UPSTREAM_ERROR'],
};
