import type { RowDocs } from '../endpoint';
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

const SEND_CODES = ['NO_ACTIVE_WABA', 'PAYMENT_FAILED', 'PAYMENT_ACTION_REQUIRED'] as const;
const ACCEPTED =
  'A success means that the upstream accepted the message. Delivery, read receipts and failures arrive as events with the same `message_id`. After a 502 with `details.outcome` `unknown` the message may have been sent: do not retry unless you sent an `Idempotency-Key`.';

const sent = (example: Record<string, unknown>): RowDocs => ({
  answer: sendResult,
  example,
  codes: SEND_CODES,
  notes: ACCEPTED,
});

export const sendText = sent({ to: '15550100777', text: 'Your order is on its way.' });

export const sendTemplate: RowDocs = {
  ...sent({
    to: '15550100777',
    template: {
      name: 'order_update',
      language: 'en_US',
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ada' },
            { type: 'text', text: '4711' },
          ],
        },
      ],
    },
  }),
  codes: [...SEND_CODES, 'AUTH_TEMPLATE_NEEDS_PHONE'],
};

export const sendMedia = sent({
  to: '15550100777',
  type: 'image',
  media: { link: 'https://example.com/plant.jpg', caption: 'A plant' },
});

export const sendInteractive = sent({
  to: '15550100777',
  interactive: {
    type: 'button',
    body: { text: 'Shall we deliver on Monday?' },
    action: {
      buttons: [
        { type: 'reply', reply: { id: 'yes', title: 'Yes' } },
        { type: 'reply', reply: { id: 'no', title: 'No' } },
      ],
    },
  },
});

export const sendLocation = sent({
  to: '15550100777',
  latitude: 52.5163,
  longitude: 13.3777,
  name: 'Our shop',
  address: '1 Example Street',
});

export const sendContacts = sent({
  to: '15550100777',
  contacts: [
    {
      name: { formatted_name: 'Bo Berg', first_name: 'Bo' },
      phones: [{ phone: '+1 555-010-0999', type: 'WORK' }],
    },
  ],
});

export const sendReaction = sent({
  to: '15550100777',
  message_id: 'wamid.HBgLMTU1NTAxMDA3NzcVAgASGBQ',
  emoji: '👍',
});

export const markRead: RowDocs = {
  answer: is.nothing,
  example: {
    message_id: 'wamid.HBgLMTU1NTAxMDA3NzcVAgASGBQ',
    typing_indicator: { type: 'text' },
  },
  codes: SEND_CODES,
  notes:
    'The contact sees the message, and the earlier ones of the chat, as read. With `typing_indicator` the chat shows that you are writing, until you reply or for 25 seconds.',
};

const STATES = ['open', 'closed', 'unknown'];
const window = is.record(
  {
    state: is.choice(STATES),
    since: is.orNull(is.time()),
    until: is.orNull(is.time('At the earliest.')),
    why: is.text('the last message of the customer is less than 24 hours old'),
    entry_point: is.record(
      {
        state: is.choice(STATES),
        since: is.orNull(is.time()),
        until: is.orNull(is.time('At the earliest.')),
      },
      { description: 'The free entry point window after a message from an ad.' },
    ),
  },
  { description: 'The customer service window. Null if the recipient is invalid.' },
);

const price = is.record(
  {
    category: is.text('utility'),
    billable: is.orNull(is.flag(true, 'Null if it depends on a window whose state is unknown.')),
    why: is.text('utility templates outside an open window are billable'),
    market: is.text('Germany', 'From the country code of the recipient.'),
    currency: is.orNull(is.text('USD')),
    unit_price: is.orNull(is.text('0.0456', 'Decimal text, from the operator’s rate card.')),
    tier: is.orNull(is.text('0:', 'Volume tier of the unit price.')),
    unit_price_reason: is.orNull(is.text('the operator has loaded no rate card')),
  },
  { description: 'Null if the body is invalid or the template is unknown.' },
);

export const reasons = is.list(
  is.record(
    {
      code: is.text('UPSTREAM_ERROR', 'The error code of the send, or of what is not known.'),
      effect: is.choice(
        ['no', 'unknown', 'note'],
        '`no`: a send would fail. `unknown`: the gateway cannot tell. `note`: no obstacle.',
      ),
      field: is.orNull(is.text('to')),
      message: is.text('the customer service window is closed'),
      fix: is.text('Send a template, or wait until the customer writes.', 'What to do about it.'),
      upstream_code: is.orNull(is.whole(131_047, 'The upstream’s code that a send would get.')),
      scope: is.choice(
        ['broadcast', 'contacts'],
        'Of a broadcast. `broadcast`: it would be refused or stop. `contacts`: only these contacts would fail.',
      ),
      contacts: is.orNull(
        is.whole(3, 'Of a broadcast: how many contacts it concerns. Null: not single ones.'),
      ),
      examples: is.list(
        is.record({
          field: is.text('contacts[17]', 'The contact by its place in the list.'),
          recipient: is.orNull(is.text('15550100777', 'Null if it is invalid.')),
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
    tier: is.orNull(is.text('TIER_1K')),
    limit: is.orNull(is.whole(1_000, 'Customers in 24 hours outside an open window.')),
    used: is.orNull(is.whole(120, 'Customers to which you sent templates in the last 24 hours.')),
    left: is.orNull(is.whole(880)),
  },
  { description: 'Counted from your own sends; the upstream counts the whole portfolio.' },
);

export const cost = is.record(
  {
    category: is.orNull(is.text('marketing')),
    currency: is.orNull(is.text('USD')),
    min: is.orNull(is.text('13.65', 'Decimal text: what is billed in any case.')),
    max: is.orNull(is.text('13.65', 'With the messages whose window is not known.')),
    billable: is.whole(100),
    free: is.whole(0),
    unknown: is.whole(0, 'Billable or free: it depends on a window that is not known.'),
    reason: is.orNull(is.text('the operator has loaded no rate card', 'Why there are no sums.')),
    markets: is.list(
      is.record({
        market: is.text('Germany'),
        contacts: is.whole(100),
        unit_price: is.orNull(is.text('0.1365')),
      }),
      'The largest first.',
    ),
  },
  {
    description:
      'Without the contacts that would fail. Null if the category of the template is not known.',
  },
);

const broadcast = is.record(
  {
    total: is.whole(103, 'Contacts that would be attempted.'),
    skipped: is.whole(0, 'Contacts without a recipient.'),
    duplicates: is.whole(2, 'Contacts whose recipient appears earlier in the list.'),
    failing: is.whole(3, 'Contacts that would fail, for the reasons with the scope `contacts`.'),
    starts_at: is.time(),
    ends_at: is.time('When the last contact would leave; other broadcasts of the number included.'),
    duration_s: is.whole(6, 'Seconds from `starts_at` to `ends_at`.'),
    windows: is.record(
      { open: is.whole(20), closed: is.whole(80), unknown: is.whole(0) },
      { description: 'Contacts by the state of their customer service window.' },
    ),
    cost: is.orNull(cost),
  },
  { description: 'Null for other kinds, and if the body is invalid.' },
);

export const checkMessage: RowDocs = {
  answer: is.record({
    advice: is.text('This is advice at the time of checked_at. No send is refused because of it.'),
    checked_at: is.time(),
    kind: is.text('text'),
    deliverable: is.choice(['yes', 'no', 'unknown']),
    reasons,
    window: is.orNull(window),
    price: is.orNull(price),
    template: is.orNull(
      is.record(
        {
          status: is.orNull(is.text('APPROVED')),
          category: is.orNull(is.text('utility')),
          category_since: is.orNull(is.time()),
        },
        { description: 'Null for messages without a template.' },
      ),
    ),
    pace: is.orNull(
      is.record(
        {
          rate_per_sec: is.amount(20, 'Messages per second that the number may send.'),
          queued: is.whole(0, 'Contacts of running broadcasts that are not attempted yet.'),
          leaves_at: is.orNull(is.time('When the message, or the last contact, would leave.')),
        },
        { description: 'Null if it cannot be found out now.' },
      ),
    ),
    messaging_limit: messagingLimit,
    broadcast: is.orNull(broadcast),
  }),
  example: { kind: 'text', to: '15550100777', text: 'Your order is on its way.' },
  codes: ['TOO_MANY_CONTACTS'],
  notes:
    'Takes the body of any send endpoint plus `kind`, or that of `POST /broadcasts`, and sends nothing. A fault of the body that the endpoint would refuse is a reason here, not an error. For a broadcast, `deliverable` is `no` if it would be refused, stop at once, or have no recipient; `window` and `price` are null, and `broadcast` has the totals. The answer is advice: a send is never refused because of it. Windows come from the events of this number; they are accurate to a minute.',
};
