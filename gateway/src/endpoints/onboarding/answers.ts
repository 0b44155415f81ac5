// The answers about client numbers, their sign-up and their usage.
import * as is from '../parts/answers';

const quality_rating = is.orNull(is.quality_rating);
const messaging_limit_tier = is.orNull(is.messaging_limit_tier);
const throughput_level = is.maybe.open(['STANDARD', 'HIGH']);
export const params = { waba_id: is.text('900000000000001', 'ID of the business account.') };

const history = is.maybe.record(
  {
    phase: is.maybe.whole(
      1,
      'The latest phase that has arrived: 0 is the last day, 1 goes back 90 days, 2 goes back 180 days.',
    ),
    progress: is.maybe.whole(55, 'Percentage of the whole history. It never goes back.'),
    received_at: is.time('When its latest part arrived.'),
    error: is.maybe.record(
      {
        code: is.whole(2593109, 'Code of the platform. 2593109: your client declined.'),
        message: is.text('The business declined to share history'),
      },
      { description: 'Why the platform sends no history.' },
    ),
  },
  {
    title: 'HistorySync',
    description: 'How far the history has arrived. Null before its first part.',
  },
);

const data_sync = is.maybe.record(
  {
    status: is.choice(
      ['requested', 'waiting', 'expired'],
      '`waiting` while the gateway repeats a request that the platform has not accepted; `expired` once 24 hours have passed without it: your client must sign up again.',
    ),
    contacts_requested_at: is.maybe.time(),
    history_requested_at: is.maybe.time(),
    request_until: is.time('The end of the 24 hours after the sign-up.'),
    history,
  },
  {
    title: 'DataSync',
    description:
      'The sync of contacts and history, an addition. Null for a number that is not in use in the business app.',
  },
);

export const client = is.named('ClientRecord', {
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
  last_activity_at: is.maybe.time(),
  health: is.open(
    ['connected', 'paused'],
    '`paused` while the number is offboarded and waits to be reconnected.',
  ),
  data_sync,
});

const SYNC = 'Either `requested`, or a text that starts with `failed:`.';
export const coexistence_sync = is.named('CoexistenceSync', {
  smb_app_state_sync: is.text('requested', SYNC),
  history: is.text('requested', SYNC),
});

export const onboardingEvent = is.named('OnboardingEvent', {
  state: is.maybe.text('order-4711', 'The `state` of the connect session.'),
  current_step: is.text('COMPLETED'),
  error_code: is.maybe.text('CODE_EXCHANGE_FAILED'),
  error_message: is.maybe.text('This authorization code has expired.'),
  upstream_session_id: is.maybe.text(
    '…',
    'Trace ID of the upstream. Include it when you contact support.',
  ),
  waba_id: is.maybe.text('900000000000001'),
  phone_number_id: is.maybe.text('800000000000001'),
  created_at: is.time(),
});

export const callCounts = is.record({
  method: is.maybe.text('POST', 'Null for calls that were counted without it.'),
  endpoint: is.text(
    '/messages/send',
    'Path of the endpoint; `console` and the path for reads of the console’s pages; `/mcp` for requests of agents other than tool calls.',
  ),
  calls: is.whole(120),
  errors: is.whole(2),
});

export const refreshed = is.record({
  quality_rating,
  throughput_level,
  messaging_limit_tier,
  token_updated: is.flag(false, 'Whether the stored access token was replaced.'),
});
