import { LedgerDefinition } from '@bmg/proto/ledger';
import { RatesDefinition } from '@bmg/proto/messaging';
import { get, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { broadcastId, cursor, DAY, id, limit, object, text } from '../parts/inputs';
import type { Typed } from '../parts/schema';
import { partnerAddition } from '../parts/rows';
import { shaped } from '../parts/shape';

const decimal = (example: string, description?: string) => is.maybe.text(example, description);

const total = {
  messages: is.whole(120, 'Messages that were sent in the period.'),
  late: is.whole(1, 'Late entries.'),
  charged: is.whole(110, 'Messages that the upstream charges.'),
  unpriced: is.whole(2, 'Entries whose amount is not known: `amounts` lacks them.'),
  amounts: is.list(
    is.named('LedgerAmount', {
      currency: is.text('USD'),
      amount: is.text('6.05', 'Decimal text.'),
    }),
    'The sum of the amounts, by currency.',
  ),
};

const ledgerEntry = is.named('LedgerEntry', {
  message_id: is.text('wamid.HBgLNTU1'),
  waba_id: is.text('900000000000001'),
  phone_number_id: is.text('800000000000001'),
  recipient: is.text('4915112345678', 'Phone number or BSUID, as sent.'),
  kind: is.open(
    ['text', 'template', 'image', 'interactive', 'location', 'contacts', 'reaction', 'unknown'],
    '`unknown`: the record was rebuilt from a status.',
  ),
  template_name: is.maybe.text('order_update'),
  template_language: is.maybe.text('en_US'),
  sent_at: is.time(),
  status: is.open(['accepted', 'sent', 'delivered', 'read', 'failed']),
  category_asked: is.maybe.text(
    'utility',
    'Category that the template was created with; `service` without a template.',
  ),
  category: is.maybe.text('marketing', 'Category that the upstream charges.'),
  category_changed: is.flag(true, 'Whether the two differ.'),
  category_changed_since: is.maybe.time('Since when the template has the new category.'),
  billable: is.maybe.flag(true, 'What the upstream says.'),
  charged: is.maybe.flag(true, 'Billable and delivered: a message is charged once, on delivery.'),
  pricing_model: is.maybe.open(['PMP', 'CBP']),
  pricing_type: is.maybe.open(['regular', 'free_customer_service', 'free_entry_point']),
  market: is.maybe.text('Germany'),
  currency: is.maybe.text('USD'),
  unit_price: decimal('0.1365', 'From the rate card.'),
  amount: decimal(
    '0.1365',
    'Decimal text; 0 for what is not charged. Of a late entry: what it adds, which may be negative.',
  ),
  amount_reason: is.maybe.text('the operator has loaded no rate card', 'Why there is no amount.'),
  check_billable: is.maybe.flag(
    false,
    'What `POST /messages/check` predicted at the time of the send; null if that is no longer known.',
  ),
  billable_unlike_check: is.flag(true, 'Billable, although the check predicted a free message.'),
  late_month: is.maybe.text(
    '2026-09',
    'Of a late entry: the closed month that the message belongs to.',
  ),
  late_at: is.maybe.time('Of a late entry: when its status came.'),
});

const listedPrices = is.record({
  date: is.text('2026-10-01', 'The day whose prices these are.'),
  currency: is.maybe.text('USD'),
  prices: is.list(
    is.named('ListedPrice', {
      market: is.text('Brazil', 'As the upstream’s rate cards spell it.'),
      countries: is.list(
        is.text('BR'),
        'The countries of the market. Empty for `Other`, which has all that remain.',
      ),
      category: is.open([
        'marketing',
        'utility',
        'authentication',
        'authentication_international',
        'service',
      ]),
      tier: is.text('0:100000', 'Messages of the month for which the price holds.'),
      valid_from: is.text('2026-10-01', 'The first day of the price.'),
      price: is.text('0.0625', 'Of one message, decimal text.'),
      billable_in_window: is.flag(
        true,
        'Whether a message of this category is charged inside an open customer service window on that day. Outside one every template is.',
      ),
    }),
    'By market, category and tier.',
  ),
  reason: is.maybe.text('the operator has loaded no rate card', 'Why there are no prices.'),
});
const shownPrices = shaped(listedPrices);

const calendarDay = (description: string): Typed<'string'> => ({
  type: 'string',
  pattern: `^${DAY}$`,
  errorMessage: 'must be a day, YYYY-MM-DD',
  description,
});

const COUNTRY_MAX = 64;
const CATEGORY_MAX = 32;

/** A CSV of 100,000 rows, to a slow reader. */
const LEDGER_TIMEOUT_MS = 120_000;

/**
 * An entry, and the totals and category changes of the first page, which grow with the partner's
 * numbers.
 */
const ENTRY_BYTES = 1_536;
const TOTALS_BYTES = 1024 * 1024;

/** A price of each market, category and tier. */
const PRICES_BYTES = 256 * 1024;

export const ledger: Endpoint[] = [
  get('/usage/ledger', rpc(LedgerDefinition, 'getLedger'), {
    scope: 'filter',
    key_scope: 'billing',
    reads: 'log',
    addition: true,
    query: object({
      from: calendarDay(
        'First day of the period (UTC). Defaults to the first day of the month of `to`.',
      ),
      to: calendarDay(
        'Last day of the period (UTC), at most 30 days after `from`. Defaults to today.',
      ),
      phone_number_id: id('Only entries of this number.'),
      broadcast_id: broadcastId(
        'Only the messages of this broadcast. Without `from` and `to`, from the day on which it began.',
      ),
      limit: limit(100, 1_000),
      after: cursor('Returns the next page: `next` of the current one.'),
    }),
    answer_bytes: ({ limit = 0, after }) =>
      limit * ENTRY_BYTES + (after === undefined ? TOTALS_BYTES : 0),
    csv: rpc(LedgerDefinition, 'exportLedger'),
    timeout_ms: LEDGER_TIMEOUT_MS,
    reply: ({ fields }) => fields ?? {},
    summary: 'Read what your messages cost',
    answer: is.record(
      {
        period: is.record({ from: is.text('2026-10-01'), to: is.text('2026-10-31') }),
        months: is.list(
          is.record({
            month: is.text('2026-10'),
            status: is.choice(
              ['open', 'closing', 'closed'],
              'Figures of a closed month never change.',
            ),
            closed_at: is.maybe.time(),
          }),
        ),
        entries: is.list(ledgerEntry, 'Messages by time of sending, then late entries.'),
        next: is.orNull(
          is.cursor('WyIyMDI2LTEwLTAxIl0', 'Pass it as `after`. Null on the last page.'),
        ),
        limit: is.used_limit,
        totals: is.record(
          {
            ...total,
            by_number: is.list(
              is.record({ phone_number_id: is.text('800000000000001'), ...total }),
            ),
            by_category: is.list(is.record({ category: is.maybe.text('utility'), ...total })),
            by_market: is.list(is.record({ market: is.maybe.text('Germany'), ...total })),
            by_day: is.list(is.record({ day: is.text('2026-10-01'), ...total })),
          },
          { title: 'LedgerTotals', description: 'Of the whole period. On the first page only.' },
        ),
        category_changes: is.list(
          is.record({
            waba_id: is.text('900000000000001'),
            template_name: is.text('order_update'),
            template_language: is.text('en_US'),
            category_asked: is.text('utility'),
            category: is.text('marketing'),
            since: is.maybe.time(),
            unit_prices: is.list(
              is.record({
                market: is.text('Germany'),
                asked: decimal('0.0550', 'In the requested category.'),
                now: decimal('0.1365', 'In the category of today.'),
              }),
            ),
          }),
          'Templates whose category has changed, and what they cost since, in the markets of the period. On the first page only.',
        ),
      },
      { optional: ['totals', 'category_changes'] },
    ),
    codes: ['NOT_FOUND', 'NOT_CONFIGURED'],
    notes:
      'Joins every message that you sent with what the upstream says about its price, and with the operator’s rate card. With `Accept: text/csv` the answer is one CSV of the whole period, without totals. With `x-waba-id` only entries of that business account. A month is closed some days after its end: a status that comes later makes a late entry in the current month. Entries are kept for 90 days, totals for 400. With `broadcast_id`, `totals` is what the broadcast costs, by category and market; send it with every page.',
  }),
  get('/prices', rpc(RatesDefinition, 'listPrices'), {
    ...partnerAddition,
    reads: 'list',
    query: object({
      country: text(
        COUNTRY_MAX,
        'A country by its two letters (`BR`) or its English name (`Brazil`), or a market of the rate card. All markets without it.',
      ),
      category: text(
        CATEGORY_MAX,
        '`marketing`, `utility`, `authentication`, `authentication_international` or `service`. All without it.',
      ),
      date: calendarDay('The day whose prices apply (UTC). Defaults to today.'),
    }),
    answer_bytes: () => PRICES_BYTES,
    request: ({ query: { date, ...query } }) => ({ ...query, day: date }),
    reply: ({ day, ...found }) => shownPrices({ date: day, ...found }),
    summary: 'Look up the price of a message by country, category and date',
    answer: listedPrices,
    codes: ['INVALID_FIELD'],
    notes:
      'Reads the operator’s rate card. `POST /messages/check` predicts the cost of one message, with its windows; this endpoint lists prices in general.',
  }),
];
