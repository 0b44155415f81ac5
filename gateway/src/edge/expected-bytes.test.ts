// The reservation for an answer covers the largest one: otherwise a caller's unread answers could
// exceed its share.
import { expectedBytes } from './expected-bytes';
import { inputOf, replyOf, rowOf } from '../../../test/contract/rows';
import { stringify } from '../endpoints/parts/json-text';

const at = new Date('2026-11-24T22:00:00.000Z');
/** IDs and names as long as the upstream's longest. */
const WAMID = `wamid.${'A'.repeat(90)}`;
const WABA = '9'.repeat(17);
const TRACE = 'f'.repeat(32);

const aMessage = {
  message_id: WAMID,
  direction: 'outbound',
  waba_id: WABA,
  phone_number_id: WABA,
  kind: 'interactive',
  contact: `US.${'9'.repeat(60)}`,
  status: 'delivered',
  at,
  updated_at: at,
  pricing: { category: 'authentication_international', billable: false, type: 'free_entry_point' },
  broadcast: false,
};

const anEntry = {
  message_id: WAMID,
  waba_id: WABA,
  phone_number_id: WABA,
  recipient: `US.${'9'.repeat(60)}`,
  kind: 'interactive',
  template_name: 'n'.repeat(512),
  template_language: 'zh_HK',
  sent_at: at,
  status: 'delivered',
  category_asked: 'authentication_international',
  category: 'marketing_lite',
  category_changed: true,
  category_changed_since: at,
  billable: false,
  charged: false,
  pricing_model: 'PMP',
  pricing_type: 'free_customer_service',
  market: 'Rest of Central & Eastern Europe',
  currency: 'USD',
  unit_price: '0.123456789',
  amount: '-0.123456789',
  amount_reason: 'the rate card has no price for this market, category and tier',
  check_billable: false,
  billable_unlike_check: false,
  late_month: '2026-09',
  late_at: at,
};
const aTotal = {
  messages: 1_000_000,
  late: 10_000,
  charged: 1_000_000,
  unpriced: 10_000,
  amounts: [{ currency: 'USD', amount: '1234567.123456789' }],
};
const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

const aTimelineEntry = {
  type: 'event',
  at,
  trace_id: TRACE,
  event_id: `evt_${'x'.repeat(43)}`,
  seq: Number.MAX_SAFE_INTEGER,
  event: 'phone.messaging_limit_tier_updated',
  delivery_status: 'delivered',
  participant: `US.${'9'.repeat(60)}`,
};
const anAttempt = {
  type: 'attempt',
  at,
  trace_id: TRACE,
  event_id: `evt_${'x'.repeat(43)}`,
  number: 1_000_000,
  http_status: 500,
  duration_ms: 10_000,
  error: 'the connection was closed before the receiver had answered'.repeat(2),
};

const aClient = {
  waba_id: WABA,
  phone_number_id: WABA,
  phone_number: '+9'.padEnd(20, '9'),
  display_name: 'é'.repeat(128),
  connection_mode: 'coexistence',
  status: 'payment_action_required',
  tier: 'x'.repeat(20),
  quality_rating: 'YELLOW',
  messaging_limit_tier: 'TIER_UNLIMITED',
  throughput_level: 'STANDARD',
  registered_at: at,
  last_activity_at: at,
  health: 'connected',
  data_sync: {
    status: 'requested',
    contacts_requested_at: at,
    history_requested_at: at,
    request_until: at,
    history: {
      phase: 2,
      progress: 100,
      received_at: at,
      error_code: 2593109,
      error_message: 'the business has declined to share its history '.repeat(4),
    },
  },
};

const aBroadcast = {
  id: 1_000_000,
  waba_id: WABA,
  phone_number_id: WABA,
  name: 'x'.repeat(200),
  template_name: 'n'.repeat(512),
  template_language: 'en_US',
  total: 10_000,
  sent: 10_000,
  delivered: 10_000,
  failed: 10_000,
  status: 'processing',
  scheduled_at: at,
  started_at: at,
  completed_at: at,
  created_at: at,
};

test.each<[string, string, object, object]>([
  [
    'the list of messages',
    'GET /messages',
    { limit: 200 },
    { messages: many(200, aMessage), after: 'M'.repeat(200) },
  ],
  [
    'a timeline of events',
    'GET /messages/:message_id/timeline',
    {},
    { message: aMessage, entries: many(1_000, aTimelineEntry), missing: [] },
  ],
  [
    'a timeline of attempts',
    'GET /messages/:message_id/timeline',
    {},
    { message: aMessage, entries: many(1_000, anAttempt), missing: [] },
  ],
  [
    'a page of the ledger',
    'GET /usage/ledger',
    { limit: 1_000, after: 'x' },
    { fields: { entries: many(1_000, anEntry), next: 'M'.repeat(200), limit: 1_000 } },
  ],
  [
    'the first page of the ledger, with 4,000 numbers',
    'GET /usage/ledger',
    { limit: 1 },
    {
      fields: {
        entries: [anEntry],
        totals: {
          ...aTotal,
          by_number: many(4_000, { phone_number_id: WABA, ...aTotal }),
          by_category: many(8, { category: 'authentication_international', ...aTotal }),
          by_market: many(60, { market: anEntry.market, ...aTotal }),
          by_day: many(31, { day: '2026-10-01', ...aTotal }),
        },
        category_changes: [],
      },
    },
  ],
  [
    'the list of clients',
    'GET /clients',
    { limit: 500 },
    { clients: many(500, aClient), total: 10_000 },
  ],
  [
    'the list of broadcasts',
    'GET /broadcasts',
    { limit: 100 },
    { broadcasts: many(100, aBroadcast), total: 10_000 },
  ],
])('the reservation covers %s', (_name, row, query, reply) => {
  const body = stringify({ success: true, ...replyOf(row, reply, { query }) });
  const reserved = expectedBytes(rowOf(row), inputOf({ query }));
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(reserved);
  // Not far above the need either: reads would be refused without a reason.
  expect(Buffer.byteLength(body)).toBeGreaterThan(reserved / 4);
});
