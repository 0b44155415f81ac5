// The events that partners get, with what is known of their data. Further keys of the upstream's may be in them.
import type { Schema } from '../endpoints/parts/schema';
import * as is from '../endpoints/parts/answers';

export interface EventDocs {
  summary: string;
  data: Schema;
  /** It is about no account and no number. */
  about_nobody?: boolean;
}

/** The one event that no webhook of the upstream leads to. */
export const TEST_EVENT = 'webhook.test';

const bsuid = is.orNull(is.text('US.4Qm7Zr81Kd02'));
const seconds = is.whole(1_790_000_000, 'epoch seconds');
const phone = is.text('15550100777');
const message_id = is.text('wamid.HBgLMTU1NTAxMDA3NzcVAgA');
const content = {
  type: is.orNull(is.text('text', 'the upstream’s type of the message')),
  text: is.orNull(is.text('Thank you!', 'the text, a media caption or a button’s text')),
  raw: is.node({ message: is.node({}, { description: 'the upstream’s message, unaltered' }) }),
};
const errors = is.orNull(is.list(is.node({ code: is.whole(131_026), title: is.text('…') })));

/** Keys that are always there; those of `maybe` only where there is something to say. */
const data = (always: Record<string, Schema>, maybe: Record<string, Schema> = {}): Schema => ({
  ...is.record({ ...always, ...maybe }, { optional: Object.keys(maybe) }),
  additionalProperties: true,
});

const received = {
  always: { bsuid, message_id: is.orNull(message_id), ...content },
  maybe: { from: phone, contact: is.node({ name: is.text('Ada'), wa_id: phone }) },
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
    conversation: is.orNull(is.node({ id: is.text('…'), origin: is.text('utility') })),
  },
  maybe: {
    participant: phone,
    participant_bsuid: is.text('US.4Qm7Zr81Kd02'),
    errors,
    superseded: is.flag(true, 'it came after a later status'),
  },
};
const echo = { message_id, bsuid, ...content, timestamp: seconds };
const standby = { standby: { const: true }, current_handler: is.open(['ai_agent']) };
const template = {
  template_id: is.text('300000000000001'),
  template_name: is.text('order_update'),
  template_language: is.text('en_US'),
};
const quality = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'];

const statusOf = (summary: string): EventDocs => ({
  summary,
  data: data(status.always, status.maybe),
});
const accountEvent = (summary: string, example: string): EventDocs => ({
  summary,
  data: data({ event: is.text(example) }),
});

export const EVENTS: Readonly<Record<string, EventDocs>> = {
  'message.received': {
    summary: 'A customer has written',
    data: data(received.always, received.maybe),
  },
  'message.sent': statusOf('A message was accepted for delivery'),
  'message.delivered': statusOf('A message has reached the customer'),
  'message.read': statusOf('A message was read'),
  'message.failed': statusOf('A message could not be delivered; `errors` says why'),
  'message.echo': {
    summary: 'The client has sent a message from the business app',
    data: data(
      { direction: { const: 'outbound' }, source: { const: 'business_app' }, ...echo },
      { to: phone },
    ),
  },
  'message.history': {
    summary: 'A message from before the onboarding; nothing is to react to it',
    data: data(
      {
        history: { const: true },
        phase: is.orNull(is.whole(0)),
        progress: is.orNull(is.whole(55, 'percent')),
        timestamp: seconds,
      },
      {
        direction: is.choice(['inbound', 'outbound']),
        message_id: is.orNull(message_id),
        from: phone,
        to: phone,
        bsuid,
        ...content,
        status: is.orNull(is.text('READ')),
        errors,
      },
    ),
  },
  'contact.synced': {
    summary: 'The client’s address book has changed',
    data: data(
      { action: is.open(['add', 'update', 'remove']), phone_number: is.orNull(phone), bsuid },
      { full_name: is.text('Ada'), first_name: is.text('Ada'), username: is.text('ada') },
    ),
  },
  'template.status_updated': {
    summary: 'A template was approved, rejected, paused or disabled',
    data: data(
      { status: is.open(['APPROVED', 'REJECTED', 'PENDING', 'PAUSED', 'DISABLED']), ...template },
      { reason: is.orNull(is.text('ABUSIVE_CONTENT')) },
    ),
  },
  'template.quality_updated': {
    summary: 'The quality of a template has changed',
    data: data({
      previous_quality: is.orNull(is.open(quality)),
      new_quality: is.open(quality),
      ...template,
    }),
  },
  'template.category_updated': {
    summary: 'The category of a template has changed, or is going to',
    data: data(
      {
        previous_category: is.orNull(is.text('UTILITY')),
        new_category: is.open(['MARKETING', 'UTILITY', 'AUTHENTICATION']),
        ...template,
      },
      { announced: is.flag(true, 'it is yet to come'), effective_at: seconds },
    ),
  },
  'waba.account_updated': accountEvent('Something has happened to the account', 'VERIFIED_ACCOUNT'),
  'waba.review_updated': {
    summary: 'The account was reviewed',
    data: data({ decision: is.open(['APPROVED', 'REJECTED']) }),
  },
  'waba.quality_updated': {
    summary: 'The quality of a number has changed',
    data: data({
      event: is.open(['FLAGGED', 'UNFLAGGED']),
      display_phone_number: is.text('15550100001'),
      messaging_limit_tier: is.orNull(is.text('TIER_2K')),
    }),
  },
  'waba.tier_updated': {
    summary: 'The messaging limit of a number or of the account has changed',
    data: data(
      {
        messaging_limit_tier: is.text('TIER_10K'),
        previous_messaging_limit_tier: is.orNull(is.text('TIER_2K')),
      },
      { event: is.text('UPGRADE'), display_phone_number: is.text('15550100001') },
    ),
  },
  'waba.pricing_tier_updated': {
    summary: 'A volume tier was reached; of several, the smallest `tier_update_time` counts',
    data: data({
      waba_id: is.text('900000000000001'),
      pricing_category: is.orNull(is.text('UTILITY')),
      tier: is.orNull(is.text('10000001:20000000')),
      region: is.orNull(is.text('Indonesia')),
      effective_month: is.orNull(is.text('2026-10')),
      tier_update_time: is.orNull(seconds),
    }),
  },
  'waba.offboarded': accountEvent(
    'The number is paused until it is linked again',
    'ACCOUNT_OFFBOARDED',
  ),
  'waba.reconnected': accountEvent('The number is linked again', 'ACCOUNT_RECONNECTED'),
  'standby.message_received': {
    summary: 'A customer has written while the upstream’s agent answers; do not reply',
    data: data({ ...standby, ...received.always }, received.maybe),
  },
  'standby.message_echo': {
    summary: 'The upstream’s agent has sent a message',
    data: data({ ...standby, ...echo }, { to: phone }),
  },
  'standby.message_status': {
    summary: 'A status of a message of the upstream’s agent',
    data: data({ ...standby, ...status.always }, status.maybe),
  },
  group_lifecycle_update: {
    summary: 'A group was created, changed or deleted, or people joined or left',
    data: data(
      {
        group_id: is.orNull(is.text('Y2FwaV9ncm91cDox')),
        invite_link: is.orNull(is.text('https://invite.example.org/…')),
        type: is.text('group_create'),
        timestamp: seconds,
      },
      { request_id: is.text('rq-0002') },
    ),
  },
  [TEST_EVENT]: {
    summary: 'You have asked for a test of your address; nothing has happened',
    data: data({ text: is.text('A test of your webhook URL. Nothing has happened.') }),
    about_nobody: true,
  },
};
