// The events that partners receive, with a summary and a schema of `data`. Events can carry further
// keys of the upstream's.
import { DESTINATION_TYPES } from '@bmg/common/destinations';
import {
  ALERT_EVENT,
  ENDPOINT_DISABLED_EVENT,
  TEST_EVENT,
  type EventName,
  type ExtraEvent,
} from '@bmg/common/messages';
import { PARTNER_SEVERITIES } from '@bmg/common/notices';
import type { Schema } from '../endpoints/parts/schema';
import * as is from '../endpoints/parts/answers';

export interface EventDocs {
  /** A phrase without a full stop. */
  summary: string;
  /**
   * The part of an upstream webhook that becomes the event, in Markdown. Printed in fanout's
   * EVENTS.md only.
   */
  upstream?: string;
  /**
   * Facts that the schema of `data` does not express, in whole sentences. Printed in fanout's
   * EVENTS.md only.
   */
  notes?: string;
  data: Schema;
  /**
   * Values in the example of `data` instead of those of its schema, so that they agree with each
   * other and with the event; undefined leaves a key out.
   */
  example?: Readonly<Record<string, unknown>>;
  /** True: the event belongs to no business account and no number. */
  without_account?: boolean;
  /** True: the event may belong to no account. */
  account_if_known?: true;
  /** True: sent only if a filter names it. */
  extra?: true;
}

const bsuid = is.maybe.text('US.4Qm7Zr81Kd02');
const seconds = is.whole(1_790_000_000, 'Epoch seconds.');
const phone = is.text('15550100777');
const message_id = is.text('wamid.HBgLMTU1NTAxMDA3NzcVAgA');
const content = {
  type: is.maybe.text('text', 'Message type of the upstream.'),
  text: is.maybe.text(
    'Thank you!',
    'The text, a media caption or the text of a button. Null for every other message.',
  ),
  raw: is.node({
    message: is.node({}, { description: 'The upstream’s message object, unaltered.' }),
  }),
};
const errors = is.maybe.list(
  is.node({ code: is.whole(131_026), title: is.text('Message undeliverable') }),
);

/** `always`: keys that are always present. `maybe`: keys that are absent without a value. */
const data = (always: Record<string, Schema>, maybe: Record<string, Schema> = {}): Schema => ({
  ...is.record({ ...always, ...maybe }, { optional: Object.keys(maybe) }),
  additionalProperties: true,
});

const received = {
  always: { bsuid, message_id: is.orNull(message_id), ...content },
  maybe: {
    from: phone,
    contact: is.node({
      name: is.text('Ada'),
      username: is.text('ada.l'),
      wa_id: phone,
      parent_user_id: is.text('US.ENT.9Pt3Lw66Ha10'),
    }),
  },
};
const pricing = is.node({
  billable: is.flag(true),
  pricing_model: is.open(['PMP']),
  type: is.open(['regular', 'free_customer_service', 'free_entry_point']),
  category: is.open(['service', 'utility', 'marketing', 'authentication', 'referral_conversion']),
});
const status = {
  always: {
    message_id,
    status: is.text('delivered'),
    recipient: is.orNull(phone),
    recipient_bsuid: bsuid,
    timestamp: seconds,
    pricing: is.orNull(pricing),
    conversation: is.maybe.node({ id: is.text('…'), origin: is.text('service') }),
  },
  maybe: {
    participant: phone,
    participant_bsuid: is.text('US.4Qm7Zr81Kd02'),
    errors,
    superseded: is.flag(true, 'Present if a later status arrived first.'),
    source: {
      const: 'reconciled',
      description: 'Present if the webhook was lost and the status was read from the history.',
    },
  },
};
/** Keys that few statuses have: the example of a plain one leaves them out. */
const plain = {
  participant: undefined,
  participant_bsuid: undefined,
  errors: undefined,
  superseded: undefined,
  source: undefined,
};
const echo = { message_id, bsuid, ...content, timestamp: seconds };
const standby = { standby: { const: true }, current_handler: is.open(['ai_agent']) };
const template = {
  template_id: is.text('300000000000001'),
  template_name: is.text('order_update'),
  template_language: is.text('en_US'),
};
const categoryCost = is.record(
  {
    from: is.text('2026-10-01', 'The UTC day from which the new category applies.'),
    currency: is.maybe.text('USD'),
    unit_prices: is.maybe.list(
      is.record({
        market: is.text('Germany'),
        previous: is.maybe.text('0.0550', 'In the previous category, as decimal text.'),
        new: is.text('0.1365', 'In the new category, as decimal text.'),
      }),
      'The price of a billable message by market, from the operator’s rate card: the first tier, on the day `from`.',
    ),
    reason: {
      ...is.maybe.text('the operator has loaded no rate card', 'Why there are no prices.'),
      examples: [null],
    },
  },
  { description: 'What messages of the template cost. An addition of the service.' },
);
const quality = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'];

const statusOf = (
  status_is: 'sent' | 'delivered' | 'read' | 'failed',
  summary: string,
  example: EventDocs['example'] = {},
): EventDocs => ({
  summary,
  upstream: '`messages` → `statuses[]`',
  notes:
    '`participant` and `participant_bsuid` in groups. `message.failed` always has `errors`. `source` is `reconciled` if the webhook was lost and the status was read from the upstream’s message history: such a status has no `pricing`.',
  data: data({ ...status.always, status: is.text(status_is) }, status.maybe),
  example: { ...plain, ...example },
});
const accountEvent = (
  summary: string,
  { example, upstream }: { example: string; upstream: string },
): EventDocs => ({
  summary,
  upstream,
  notes:
    'Further keys of the upstream’s, such as `ban_info`, `restriction_info`, `violation_info` and `waba_info`.',
  data: data({ event: is.text(example) }),
});

const extra = (summary: string, docs: Omit<EventDocs, 'summary' | 'extra'>): EventDocs => ({
  summary,
  ...docs,
  extra: true,
});
const client = {
  waba_id: is.text('900000000000001'),
  phone_number_id: is.text('800000000000001'),
  phone_number: is.text('15550100001'),
  display_name: is.text('Example Shop'),
};
const session_state = is.maybe.text('order-4711', 'The `state` of the connect session.');
/** The customer calls; no call of the examples fails. */
const a_call = { from: '15550100777', to: '15550100001', errors: undefined };
const callOf = (
  summary: string,
  { upstream, example }: Required<Pick<EventDocs, 'upstream' | 'example'>>,
): EventDocs =>
  extra(summary, {
    upstream,
    example: { ...a_call, ...example },
    notes:
      '`bsuid` is the customer’s. `session` is null if the upstream sends none. `duration` and other keys of the upstream’s are in `raw.call`.',
    data: data(
      {
        call_id: is.text('wacid.HBgLMTU1NTAxMDA3NzcVAgA'),
        from: is.orNull(phone),
        to: is.maybe.text('15550100001'),
        bsuid,
        direction: is.maybe.open(['USER_INITIATED', 'BUSINESS_INITIATED']),
        session: is.maybe.node({
          sdp_type: is.open(['offer', 'answer']),
          sdp: is.text('v=0\r\n…'),
        }),
        status: is.maybe.open(['RINGING', 'ACCEPTED', 'REJECTED', 'COMPLETED', 'FAILED']),
        timestamp: seconds,
        raw: is.node({ call: is.node({}, { description: 'The upstream’s object, unaltered.' }) }),
      },
      { errors },
    ),
  });

/** The upstream's own keys; null without a value. */
const EXTRA: Readonly<Record<ExtraEvent, EventDocs>> = {
  'call.connect': callOf(
    'A customer calls, with the offer to answer; or a customer took your call, with the answer',
    { upstream: '`calls` → `calls[]`: `connect`', example: { status: null } },
  ),
  'call.terminate': callOf('A call ended', {
    upstream: '`calls` → `calls[]`: `terminate`',
    example: { session: null, status: 'COMPLETED' },
  }),
  'call.status': callOf('A call of yours rings, was accepted or rejected', {
    upstream: '`calls` → `statuses[]`',
    example: { from: null, to: '15550100777', direction: null, session: null },
  }),
  'handover.updated': extra('Another app became the handler of a conversation', {
    upstream: '`messaging_handovers`',
    data: data({
      phone_number: is.orNull(phone),
      bsuid,
      type: is.maybe.open(['control_passed', 'control_taken']),
      current_handler: is.maybe.text('ai_agent'),
      previous_handler: is.maybe.text('customer_service'),
      new_owner_app_id: is.maybe.text('700000000000001'),
      previous_owner_app_id: is.maybe.text('700000000000002'),
      raw: is.node({ handover: is.node({}) }),
    }),
  }),
  'contact.preference_updated': extra('A customer stopped or resumed a category of messages', {
    upstream: '`user_preferences`',
    notes: 'Further keys of the upstream’s, such as `detail`.',
    data: data({
      phone_number: is.orNull(phone),
      bsuid,
      category: is.maybe.open(['marketing_messages']),
      preference: is.maybe.open(['stop', 'resume']),
      timestamp: seconds,
    }),
  }),
  'contact.id_changed': extra('A customer has a new phone number or BSUID', {
    upstream:
      '`messages` → `messages[]`: `system` with `user_changed_number` or `user_changed_user_id`; `user_id_update`',
    notes:
      'The upstream may report a change both ways: then there are two events. The system message is `message.received` too.',
    example: { id_type: 'bsuid' },
    data: data({
      id_type: is.choice(['phone_number', 'bsuid']),
      previous: is.maybe.text('US.4Qm7Zr81Kd02'),
      current: is.text('US.7Bn5Xc'),
      phone_number: is.orNull(phone),
      raw: is.node({ change: is.node({}) }),
    }),
  }),
  'number.name_updated': extra('The display name of a number was reviewed', {
    upstream: '`phone_number_name_update`',
    example: { rejection_reason: null },
    data: data({
      display_phone_number: is.text('15550100001'),
      decision: is.maybe.open(['APPROVED', 'REJECTED', 'DEFERRED', 'PENDING']),
      requested_verified_name: is.maybe.text('Example Shop'),
      rejection_reason: is.maybe.text('NAME_FORMAT_UNACCEPTABLE'),
    }),
  }),
  'number.security_updated': extra('The PIN of a number was changed or is to be reset', {
    upstream: '`security`',
    data: data({
      display_phone_number: is.text('15550100001'),
      event: is.maybe.open(['PIN_CHANGED', 'PIN_RESET_REQUEST', 'PIN_REQUEST_SUCCESS']),
      requester: is.maybe.text('61500000000001'),
    }),
  }),
  'waba.alert': extra('The upstream alerts about a business, account or number', {
    upstream: '`account_alerts`',
    data: data({
      entity_type: is.maybe.open(['BUSINESS', 'PHONE_NUMBER']),
      entity_id: is.maybe.text('600000000000001'),
      alert_type: is.maybe.text('INCREASED_CAPABILITIES_ELIGIBILITY_DEFERRED'),
      alert_severity: is.maybe.open(['CRITICAL', 'WARNING', 'INFORMATIONAL']),
      alert_status: is.maybe.open(['ACTIVE', 'NONE']),
      alert_description: is.maybe.text('…'),
    }),
  }),
  'waba.settings_updated': extra('The settings of a number changed, for example those of calls', {
    upstream: '`account_settings_update`',
    data: data({
      type: is.maybe.text('PHONE_NUMBER_SETTINGS'),
      phone_number_settings: is.maybe.node({}),
    }),
  }),
  'business.status_updated': extra('The status of a business portfolio changed', {
    upstream: '`business_status_update`',
    data: data({
      business_id: is.maybe.text('600000000000001'),
      event: is.maybe.text('COMPROMISED_NOTIFICATION'),
    }),
  }),
  'solution.updated': extra('A multi-partner solution was created or changed', {
    upstream: '`partner_solutions`',
    notes:
      'The upstream names a portfolio: the event is sent only if it is registered as an account.',
    data: data({
      event: is.maybe.open(['SOLUTION_CREATED', 'SOLUTION_UPDATED']),
      solution_id: is.maybe.text('140000000000001'),
      solution_status: is.maybe.text('INITIATED'),
    }),
  }),
  'payment.configuration_updated': extra('A payment configuration changed', {
    upstream: '`payment_configuration_update`',
    notes: 'Further keys of the upstream’s, such as `created_timestamp`.',
    data: data({
      configuration_name: is.maybe.text('c1'),
      provider_name: is.maybe.text('example'),
      provider_mid: is.maybe.text('m-1'),
      status: is.maybe.text('Needs Testing'),
    }),
  }),
  'flow.updated': extra('The status of a flow changed, or its endpoint has problems', {
    upstream: '`flows`',
    notes: 'Further keys of the upstream’s, such as `new_status` and `alert_state`.',
    data: data({
      flow_id: is.maybe.text('110000000000001'),
      event: is.maybe.open([
        'FLOW_STATUS_CHANGE',
        'ENDPOINT_ERROR_RATE',
        'ENDPOINT_LATENCY',
        'ENDPOINT_AVAILABILITY',
        'CLIENT_ERROR_RATE',
      ]),
      message: is.maybe.text('…'),
    }),
  }),
  'template.components_updated': extra('The content of a template changed', {
    upstream: '`message_template_components_update`',
    data: data({
      ...template,
      title: is.maybe.text('Title'),
      element: is.maybe.text('Body {{1}}'),
      footer: is.maybe.text('Foot'),
      buttons: is.maybe.list(is.node({})),
    }),
  }),
  'template.category_detected': extra('The upstream finds that a template has another category', {
    upstream: '`template_correct_category_detection`',
    data: data({
      ...template,
      category: is.maybe.text('UTILITY'),
      correct_category: is.maybe.text('MARKETING'),
    }),
  }),
  'conversion.detected': extra('The upstream found a purchase or a lead in a conversation', {
    upstream: '`automatic_events`',
    notes: 'Further keys of the upstream’s, such as `custom_data`.',
    data: data({
      message_id: is.orNull(message_id),
      event_name: is.maybe.open(['LeadSubmitted', 'Purchase']),
      timestamp: seconds,
    }),
  }),
  'client.connected': extra(
    'A number was registered, by you or by a sign-up, or restored by support',
    {
      data: data({
        ...client,
        state: session_state,
      }),
    },
  ),
  'client.failed': extra('A sign-up by a connect link failed, or the person left it', {
    data: data({
      state: session_state,
      code: is.text('CODE_EXCHANGE_FAILED'),
      message: is.text('…'),
      waba_id: is.maybe.text('900000000000001'),
      phone_number_id: is.maybe.text('800000000000001'),
    }),
    account_if_known: true,
  }),
  'client.removed': extra('You deleted a client', {
    data: data(client),
  }),
  'partner.notice': extra('The operator sent you a notice', {
    data: data({
      notice_id: is.text('ntc_01k5x3v9m2c4e6g8j0n1p3r5t7'),
      severity: is.choice([...PARTNER_SEVERITIES]),
      subject: is.text('Your receiver answers 503'),
      text: is.text('…'),
    }),
    without_account: true,
  }),
  'upstream.other': extra('Anything that the upstream sends and that has no event of its own', {
    upstream: 'Every field, list or item without a row, including unknown ones',
    notes:
      '`item` is the list, for an item of a value. `value` is null if it has more than 256 KB: then `value_bytes` is its size.',
    example: { value: {}, item: undefined, value_bytes: undefined },
    data: data(
      {
        field: is.text('tracking_events', 'The upstream’s field.'),
        value: is.any('As the upstream sent it.'),
      },
      { item: is.text('statuses'), value_bytes: is.whole(300_000) },
    ),
  }),
};

export const EVENTS: Readonly<Record<EventName, EventDocs>> = {
  'message.received': {
    summary: 'A customer sent a message',
    upstream: '`messages` → `messages[]`, every type, including unknown ones',
    notes:
      '`from` is absent if the phone number is hidden. `contact` has `name`, `username`, `wa_id` and `parent_user_id` where given.',
    data: data(received.always, received.maybe),
  },
  'message.sent': statusOf('sent', 'A message was sent'),
  'message.delivered': statusOf('delivered', 'A message was delivered to the customer'),
  'message.read': statusOf('read', 'The customer read a message'),
  'message.failed': statusOf(
    'failed',
    'A message could not be delivered; `errors` holds the reason',
    {
      errors: [{ code: 131_026, title: 'Message undeliverable' }],
      pricing: null,
      conversation: null,
    },
  ),
  'message.echo': {
    summary: 'The client sent a message from the business app',
    upstream: '`smb_message_echoes`',
    data: data(
      { direction: { const: 'outbound' }, source: { const: 'business_app' }, ...echo },
      { to: phone },
    ),
  },
  'message.history': {
    summary: 'A message from before the onboarding; do not trigger automation',
    upstream: '`history`: threads, and media that follows later',
    example: { direction: 'outbound', from: '15550100001', errors: undefined },
    notes:
      'In a one-to-one thread, `direction` is `inbound` for messages of the customer and `outbound` for all others. Media that follows later has `phase` and `progress` null. If the client declined to share its history, one event has `errors` and no message.',
    data: data(
      {
        history: { const: true },
        phase: is.maybe.whole(0),
        progress: is.maybe.whole(55, 'Percent.'),
        timestamp: seconds,
      },
      {
        direction: is.choice(['inbound', 'outbound']),
        message_id: is.orNull(message_id),
        from: phone,
        to: phone,
        bsuid,
        ...content,
        status: is.maybe.text('READ'),
        errors,
      },
    ),
  },
  'contact.synced': {
    summary: 'A contact in the client’s address book changed',
    upstream: '`smb_app_state_sync`',
    notes: 'The upstream sends `add` for edits too; for a known contact it becomes `update`.',
    data: data(
      { action: is.open(['add', 'update', 'remove']), phone_number: is.orNull(phone), bsuid },
      { full_name: is.text('Ada'), first_name: is.text('Ada'), username: is.text('ada') },
    ),
  },
  'template.status_updated': {
    summary: 'A template was approved, rejected, paused or disabled',
    example: { reason: null },
    upstream: '`message_template_status_update`',
    notes:
      '`reason` is always present on `REJECTED`; the upstream’s `NONE` is null. Further keys: `rejection_info`, `disable_info`, `other_info`.',
    data: data(
      { status: is.open(['APPROVED', 'REJECTED', 'PENDING', 'PAUSED', 'DISABLED']), ...template },
      { reason: is.maybe.text('ABUSIVE_CONTENT') },
    ),
  },
  'template.quality_updated': {
    summary: 'The quality of a template changed',
    example: { new_quality: 'YELLOW' },
    upstream: '`message_template_quality_update`',
    data: data({
      previous_quality: is.maybe.open(quality),
      new_quality: is.open(quality),
      ...template,
    }),
  },
  'template.category_updated': {
    summary: 'The category of a template changed or will change',
    // The day of `cost.from`.
    example: { effective_at: Date.parse('2026-10-01T00:00:00Z') / 1_000 },
    upstream: '`template_category_update`',
    notes:
      'An announced change has `announced` true and `effective_at`, and `new_category` is the future category. `cost` is an addition of the service: `unit_prices` is null if they are not known, and `reason` has the cause.',
    data: data(
      {
        previous_category: is.maybe.text('UTILITY'),
        new_category: is.open(['MARKETING', 'UTILITY', 'AUTHENTICATION']),
        ...template,
      },
      {
        announced: is.flag(true, 'Present if the change is only announced.'),
        effective_at: seconds,
        cost: categoryCost,
      },
    ),
  },
  'waba.account_updated': accountEvent('The status of a business account changed', {
    example: 'VERIFIED_ACCOUNT',
    upstream: '`account_update`, every event without a row of its own',
  }),
  'waba.review_updated': {
    summary: 'A business account was reviewed',
    upstream: '`account_review_update`',
    data: data({ decision: is.open(['APPROVED', 'REJECTED']) }),
  },
  'waba.quality_updated': {
    summary: 'The quality of a number changed',
    upstream: '`phone_number_quality_update`: `FLAGGED`, `UNFLAGGED` and unknown events',
    data: data({
      event: is.open(['FLAGGED', 'UNFLAGGED']),
      display_phone_number: is.text('15550100001'),
      messaging_limit_tier: is.maybe.text('TIER_2K'),
    }),
  },
  'waba.tier_updated': {
    summary: 'The messaging limit of a number or of a business account changed',
    upstream:
      '`phone_number_quality_update`: `ONBOARDING`, `UPGRADE`, `DOWNGRADE`, or an old limit that differs; `business_capability_update` with a daily limit',
    notes:
      'Limits have the contract’s spelling (`TIER_2K`, `UNLIMITED`). Only an event of a number has `event` and `display_phone_number`.',
    data: data(
      {
        messaging_limit_tier: is.text('TIER_10K'),
        previous_messaging_limit_tier: is.maybe.text('TIER_2K'),
      },
      { event: is.text('UPGRADE'), display_phone_number: is.text('15550100001') },
    ),
  },
  'waba.pricing_tier_updated': {
    summary: 'A pricing tier was reached; use the event with the smallest `tier_update_time`',
    upstream: '`account_update`: `VOLUME_BASED_PRICING_TIER_UPDATE`',
    notes: 'Of several events, use the one with the smallest `tier_update_time`.',
    data: data({
      waba_id: is.text('900000000000001'),
      pricing_category: is.maybe.text('UTILITY'),
      tier: is.maybe.text('10000001:20000000'),
      region: is.maybe.text('Indonesia'),
      effective_month: is.maybe.text('2026-10'),
      tier_update_time: is.orNull(seconds),
    }),
  },
  'waba.offboarded': accountEvent('A number was offboarded and is paused until it is reconnected', {
    example: 'ACCOUNT_OFFBOARDED',
    upstream: '`account_update`: `ACCOUNT_OFFBOARDED`',
  }),
  'waba.reconnected': accountEvent('A number was reconnected', {
    example: 'ACCOUNT_RECONNECTED',
    upstream: '`account_update`: `ACCOUNT_RECONNECTED`',
  }),
  'standby.message_received': {
    summary: 'A customer sent a message while the upstream’s AI agent is the handler; do not reply',
    upstream: '`standby` → `messages[]`',
    notes: '`current_handler` is `ai_agent` until a handover names another one.',
    data: data({ ...standby, ...received.always }, received.maybe),
  },
  'standby.message_echo': {
    summary: 'The upstream’s AI agent sent a message',
    upstream: '`standby` → `message_echoes[]`',
    notes: 'As `message.echo`, without `direction` and `source`.',
    data: data({ ...standby, ...echo }, { to: phone }),
  },
  'standby.message_status': {
    summary: 'Status of a message from the upstream’s AI agent',
    example: plain,
    upstream: '`standby` → `statuses[]`',
    data: data({ ...standby, ...status.always }, status.maybe),
  },
  group_lifecycle_update: {
    summary: 'A group was created, changed or deleted, or participants joined or left',
    upstream:
      '`group_lifecycle_update`, `group_participants_update`, `group_settings_update`, `group_status_update`: one event per group',
    notes: 'Further keys of the upstream’s, such as `subject`, `added_participants` and `errors`.',
    data: data(
      {
        group_id: is.maybe.text('Y2FwaV9ncm91cDox'),
        invite_link: is.maybe.text('https://invite.example.org/…'),
        type: is.text('group_create'),
        timestamp: seconds,
      },
      { request_id: is.text('rq-0002') },
    ),
  },
  ...EXTRA,
  [ALERT_EVENT]: {
    summary: 'A threshold of yours was crossed: an addition to the contract, off by default',
    example: { phone_number_id: null },
    data: data({
      cause: is.open([
        'spend_per_day',
        'failure_rate',
        'webhook_failures',
        'quality_drops',
        'unpaid_slots',
      ]),
      day: is.text('2026-09-21', 'UTC day. There is at most one alert for each cause and day.'),
      value: is.text(
        '51.20',
        'Decimal text: the amount, the percentage or the number that crossed the threshold.',
      ),
      threshold: is.text('50.00', 'As it was set; `true` for a cause without a figure.'),
      currency: is.maybe.text('USD'),
      phone_number_id: is.maybe.text('800000000000001', 'The number whose quality dropped.'),
    }),
    without_account: true,
  },
  [ENDPOINT_DISABLED_EVENT]: {
    summary: 'A webhook endpoint of yours was disabled: an addition to the contract',
    notes:
      'Your webhook URL and the other endpoints get it once an endpoint has failed for five days without one success.',
    data: data({
      endpoint_id: is.text('whe_01k5x3v9m2c4e6g8j0n1p3r5t7'),
      url: is.maybe.text(
        'https://crm.example.com',
        'Its address, without path and query. Null: a destination.',
      ),
      destination: {
        ...is.maybe.record(
          {
            type: is.open(DESTINATION_TYPES),
            address: is.text('kafka://kafka.example.com:9093/events'),
          },
          { description: 'Its topic, queue or bucket. Null: a URL.' },
        ),
        examples: [null],
      },
      reason: is.open(['failing']),
    }),
    without_account: true,
  },
  [TEST_EVENT]: {
    summary: 'A test event, sent on your request',
    data: data({ text: is.text('A test of your webhook URL. Nothing has happened.') }),
    without_account: true,
  },
};
