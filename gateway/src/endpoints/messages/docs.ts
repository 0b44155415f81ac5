import * as is from '../parts/answers';

const sendResult = is.record(
  {
    message_id: is.text(
      'wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI',
      'ID of the message. Every status event of the message carries it.',
    ),
    messages: is.list(
      is.record({ id: is.text('wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI', 'Same as `message_id`.') }),
    ),
    contacts: is.list({
      ...is.record(
        {
          input: is.text('15550100777', 'Recipient as the upstream received it.'),
          wa_id: is.text(
            '15550100777',
            'Platform ID of the recipient. Only for sends to a phone number.',
          ),
          user_id: is.text('US.4Qm7Zr81Kd02', 'BSUID of the recipient. Only for sends to a BSUID.'),
        },
        { optional: ['wa_id', 'user_id'] },
      ),
      examples: [{ input: '15550100777', wa_id: '15550100777' }],
    }),
    message_status: is.open(
      ['held_for_quality_assessment'],
      'Present only if delivery is paced; treat the message as delivered only after its `message.sent` or `message.delivered` event. Absent means normal delivery.',
    ),
    timeline_url: is.text(
      'https://api.example.com/v1/messages/wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI/timeline',
      'Where to read what happened to the message. Takes your `x-partner-key`.',
    ),
  },
  { optional: ['message_status'], title: 'SendResult' },
);

export const SEND_CODES = ['NO_ACTIVE_WABA', 'PAYMENT_FAILED', 'PAYMENT_ACTION_REQUIRED'] as const;
const ACCEPTED =
  'A success means that the upstream accepted the message. Delivery, read receipts and failures arrive as events with the same `message_id`. After a 502 with `details.outcome` `unknown` the message may have been sent: do not retry unless you sent an `Idempotency-Key`.';

export const sent = (example: Record<string, unknown>) => ({
  answer: sendResult,
  example,
  codes: SEND_CODES,
  notes: ACCEPTED,
});

const STATES = ['open', 'closed', 'unknown'];
const window = is.record(
  {
    state: is.choice(STATES),
    since: is.maybe.time(),
    until: is.maybe.time('At the earliest.'),
    why: is.text('the last message of the customer is less than 24 hours old'),
    entry_point: is.record(
      {
        state: is.choice(STATES),
        since: is.maybe.time(),
        until: is.maybe.time('At the earliest.'),
      },
      { description: 'The free entry point window after a message from an ad.' },
    ),
  },
  { description: 'The customer service window. Null if the recipient is invalid.' },
);

const price = is.record(
  {
    category: is.text('utility'),
    billable: is.maybe.flag(true, 'Null if it depends on a window whose state is unknown.'),
    why: is.text('utility templates outside an open window are billable'),
    market: is.text('Germany', 'From the country code of the recipient.'),
    currency: is.maybe.text('USD'),
    unit_price: is.maybe.text('0.0456', 'Decimal text, from the operator’s rate card.'),
    tier: is.maybe.text('0:', 'Volume tier of the unit price.'),
    unit_price_reason: is.maybe.text('the operator has loaded no rate card'),
  },
  { description: 'Null if the body is invalid or the template is unknown.' },
);

const reasons = is.list(
  is.record(
    {
      code: is.text('UPSTREAM_ERROR', 'The error code of the send, or of what is not known.'),
      effect: is.choice(
        ['no', 'unknown', 'note'],
        '`no`: a send would fail. `unknown`: the gateway cannot tell. `note`: no obstacle.',
      ),
      field: is.maybe.text('to'),
      message: is.text('the customer service window is closed'),
      fix: is.text('Send a template, or wait until the customer writes.', 'What to do about it.'),
      upstream_code: is.maybe.whole(131_047, 'The upstream’s code that a send would get.'),
      scope: is.choice(
        ['broadcast', 'contacts'],
        'Of a broadcast. `broadcast`: it would be refused or stop. `contacts`: only these contacts would fail.',
      ),
      contacts: is.maybe.whole(
        3,
        'Of a broadcast: how many contacts it concerns. Null: not single ones.',
      ),
      examples: is.list(
        is.record({
          field: is.text('contacts[17]', 'The contact by its place in the list.'),
          recipient: is.maybe.text('15550100777', 'Null if it is invalid.'),
          message: is.text('could not be reached on 2026-09-01T12:00:00.000Z'),
        }),
        'Of a broadcast: the first ten contacts.',
      ),
    },
    { optional: ['scope', 'contacts', 'examples'] },
  ),
);

const messagingLimit = is.record(
  {
    tier: is.maybe.text('TIER_1K'),
    limit: is.maybe.whole(1_000, 'Customers in 24 hours outside an open window.'),
    used: is.maybe.whole(120, 'Customers to which you sent templates in the last 24 hours.'),
    left: is.maybe.whole(880),
  },
  { description: 'Counted from your own sends; the upstream counts the whole portfolio.' },
);

const cost = is.record(
  {
    category: is.maybe.text('marketing'),
    currency: is.maybe.text('USD'),
    min: is.maybe.text('13.65', 'Decimal text: what is billed in any case.'),
    max: is.maybe.text('13.65', 'With the messages whose window is not known.'),
    billable: is.whole(100),
    free: is.whole(0),
    unknown: is.whole(0, 'Billable or free: it depends on a window that is not known.'),
    reason: is.maybe.text('the operator has loaded no rate card', 'Why there are no sums.'),
    markets: is.list(
      is.record({
        market: is.text('Germany'),
        contacts: is.whole(100),
        unit_price: is.maybe.text('0.1365'),
      }),
      'The largest first.',
    ),
  },
  {
    description:
      'Without the contacts that would fail. Null if the category of the template is not known.',
  },
);

/** What a broadcast would take and cost. */
export const outlook = {
  ends_at: is.time('When the last contact would leave; other broadcasts of the number included.'),
  duration_s: is.whole(6, 'Seconds from `starts_at` to `ends_at`.'),
  windows: is.record(
    { open: is.whole(20), closed: is.whole(80), unknown: is.whole(0) },
    { description: 'Contacts by the state of their customer service window.' },
  ),
  cost: is.orNull(cost),
};

const broadcast = is.record(
  {
    total: is.whole(103, 'Contacts that would be attempted.'),
    skipped: is.whole(0, 'Contacts without a recipient.'),
    duplicates: is.whole(2, 'Contacts whose recipient appears earlier in the list.'),
    failing: is.whole(3, 'Contacts that would fail, for the reasons with the scope `contacts`.'),
    starts_at: is.time(),
    ...outlook,
  },
  { description: 'Null for other kinds, and if the body is invalid.' },
);

export const checkMessage = {
  answer: is.record({
    advice: is.text('This is advice at the time of checked_at. No send is refused because of it.'),
    checked_at: is.time(),
    kind: is.text('text'),
    deliverable: is.choice(['yes', 'no', 'unknown']),
    reasons,
    window: is.orNull(window),
    price: is.orNull(price),
    template: is.maybe.record(
      {
        status: is.maybe.text('APPROVED'),
        category: is.maybe.text('utility'),
        category_since: is.maybe.time(),
      },
      { description: 'Null for messages without a template.' },
    ),
    pace: is.maybe.record(
      {
        rate_per_sec: is.amount(20, 'Messages per second that the number may send.'),
        queued: is.whole(0, 'Contacts of running broadcasts that are not attempted yet.'),
        leaves_at: is.maybe.time('When the message, or the last contact, would leave.'),
      },
      { description: 'Null if it cannot be found out now.' },
    ),
    messaging_limit: messagingLimit,
    broadcast: is.orNull(broadcast),
  }),
  example: { kind: 'text', to: '15550100777', text: 'Your order is on its way.' },
  codes: ['TOO_MANY_CONTACTS'] as const,
  notes:
    'Takes the body of any send endpoint plus `kind`, or that of `POST /broadcasts`, and sends nothing. A fault of the body that the endpoint would refuse is a reason here, not an error. For a broadcast, `deliverable` is `no` if it would be refused, stop at once, or have no recipient; `window` and `price` are null, and `broadcast` has the totals. The answer is advice: a send is never refused because of it. Windows come from the events of this number; they are accurate to a minute.',
};
