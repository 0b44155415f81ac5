// POST /{number}/messages: sends and read receipts. The recipient is checked in
// message-recipient.ts, the content in message-content.ts, a template in message-template.ts.
import { stepsFor, type Step } from '../behaviour';
import { numberOf, routesOf, type Call } from '../core';
import { upstreamError } from '../errors';
import { digitsOf } from '../ids';
import { isBlocked } from '../inbound';
import { WINDOW_MS } from '../limits';
import type { Account, BusinessNumber, Group, JsonObject, SentMessage } from '../types';
import { checkContent, GROUP_TYPES } from './message-content';
import { recipientOf, type Recipient } from './message-recipient';
import { checkTemplate, type TemplateUse } from './message-template';
import { isObject, requireProduct } from './parameters';

const CALLBACK_DATA_MAX = 512;
/** How long a held template message waits before it is released or dropped. */
const PACING_DELAY_MS = 500;

export const messageRoutes = routesOf('whatsapp_business_messaging', {
  'POST /:number/messages': postMessages,
});

function postMessages(call: Call): JsonObject {
  const { body } = call;
  const number = numberOf(call);
  requireProduct(body);
  requireSendable(number);
  return body['status'] === undefined ? send(call, number) : markRead(call, number);
}

export function requireSendable(number: BusinessNumber): void {
  if (number.status === 'BANNED') throw upstreamError(131031, 'The account is locked');
  if (!number.registered || number.status === 'DISCONNECTED' || number.status === 'PENDING') {
    throw upstreamError(133010, 'The phone number is not registered on the platform');
  }
  if (number.status === 'RATE_LIMITED') throw upstreamError(131048);
}

function send(call: Call, number: BusinessNumber): JsonObject {
  const { body, core, state } = call;
  const account = state.accountOf(number);
  const recipient = recipientOf(call, number);
  const type = typeOf(body);
  checkEnvelope(body);
  if (recipient.group) checkGroup(recipient.group, type);
  const template = type === 'template' ? checkTemplate(account, body['template'], recipient) : null;
  if (!template) checkContent(call, number, type);
  const peer = recipient.group?.id ?? recipient.wa_id ?? (recipient.user_id as string);
  const window_open = isWindowOpen(call, number, peer);
  if (!template && !window_open && core.limits.settings.window_check === 'refuse') {
    throw upstreamError(131047, 'More than 24 hours have passed since the customer last replied');
  }
  core.limits.take(number);
  const message = record(call, number, { recipient, type, template, window_open });
  core.journal.addMessage(message);
  plan(call, account, message, { peer, window_open, template: template !== null });
  return {
    messaging_product: 'whatsapp',
    contacts: [contactOf(recipient)],
    messages: [
      {
        id: message.id,
        ...(recipient.group ? { group_id: recipient.group.id } : {}),
        ...(template ? { message_status: messageStatus(template) } : {}),
      },
    ],
  };
}

function messageStatus(template: TemplateUse): string {
  return template.pacing === 'none' ? 'accepted' : 'held_for_quality_assessment';
}

/** `input` repeats the recipient as sent; a phone number wins over a business-scoped ID. */
function contactOf({ to, recipient, wa_id, group, user_id }: Recipient): JsonObject {
  if (group) return { input: to };
  return wa_id ? { input: to, wa_id } : { input: recipient, user_id };
}

function typeOf(body: JsonObject): string {
  const type = body['type'] ?? 'text';
  if (typeof type !== 'string') throw upstreamError(131009, 'type must be a string');
  return type;
}

function checkEnvelope(body: JsonObject): void {
  const data = body['biz_opaque_callback_data'];
  if (data !== undefined && (typeof data !== 'string' || data.length > CALLBACK_DATA_MAX)) {
    throw upstreamError(
      131009,
      `biz_opaque_callback_data must be a string of at most ${CALLBACK_DATA_MAX} characters`,
    );
  }
  const context = body['context'];
  if (context === undefined || context === null) return;
  if (!isObject(context)) throw upstreamError(131009, 'context must be an object');
  if (context['message_id'] === undefined) {
    throw upstreamError(131008, 'The parameter context.message_id is required.');
  }
  if (typeof context['message_id'] !== 'string') {
    throw upstreamError(131009, 'context.message_id must be a string');
  }
}

function checkGroup(group: Group, type: string): void {
  if (group.suspended) throw upstreamError(131207);
  if (!GROUP_TYPES.includes(type)) throw upstreamError(130501, `${type} cannot go to a group`);
  if (group.participants.length === 0) {
    throw upstreamError(131020, 'The group has no participant besides the business');
  }
}

function isWindowOpen(call: Call, number: BusinessNumber, peer: string): boolean {
  const at = call.state.lastInbound(number.id, peer);
  return at !== undefined && Date.now() - at < WINDOW_MS;
}

interface Accepted {
  recipient: Recipient;
  type: string;
  template: TemplateUse | null;
  window_open: boolean;
}

function record(
  { body, core, raw }: Call,
  number: BusinessNumber,
  { recipient, type, template, window_open }: Accepted,
): SentMessage {
  const category = template?.category ?? 'service';
  return {
    seq: core.journal.messages.nextSeq(),
    id: core.ids.message(),
    waba_id: number.waba_id,
    phone_number_id: number.id,
    to: recipient.to,
    recipient: recipient.recipient,
    wa_id: recipient.wa_id,
    user_id: recipient.user_id,
    group_id: recipient.group?.id ?? null,
    type,
    raw,
    biz_opaque_callback_data: (body['biz_opaque_callback_data'] as string | undefined) ?? null,
    time: Date.now(),
    category,
    template_id: template?.id ?? null,
    free: category === 'service' || (category === 'utility' && window_open),
    pacing: template?.pacing ?? 'none',
    history: [],
  };
}

interface SendFacts {
  peer: string;
  window_open: boolean;
  template: boolean;
}

function plan(call: Call, account: Account, message: SentMessage, facts: SendFacts): void {
  const { core } = call;
  const failure = failureOf(call, account, message, facts);
  count(account, call, message, failure !== null);
  if (!account.subscribed) return;
  const { current, random } = core.behaviour;
  let steps: Step[] = stepsFor(current, random, message, failure);
  if (message.pacing !== 'none') {
    steps = steps.map((step) => ({ ...step, after_ms: step.after_ms + PACING_DELAY_MS }));
  }
  core.webhooks.planStatuses(message, steps);
}

function failureOf(
  { core, state }: Call,
  account: Account,
  message: SentMessage,
  { peer, window_open, template }: SendFacts,
): { code: number } | null {
  const rule = core.behaviour.failureFor([message.wa_id, message.user_id, message.group_id]);
  if (rule) return rule;
  if (message.pacing === 'drop') return { code: 132015 };
  // Documented as an error without a code: this is the code of all undeliverable messages.
  const number = state.numbers.get(message.phone_number_id);
  if (number && isBlocked(number, message)) return { code: 131026 };
  if (!template && !window_open && core.limits.settings.window_check === 'fail_later') {
    return { code: 131047 };
  }
  // The platform detects an ID of another portfolio only on delivery.
  const foreign =
    message.user_id !== null && state.customer(account.portfolio.id, peer) === 'foreign';
  return foreign ? { code: 131026 } : null;
}

const HALF_HOUR_S = 1800;

function count(account: Account, { state }: Call, message: SentMessage, failed: boolean): void {
  const half_hour = Math.floor(message.time / 1000 / HALF_HOUR_S) * HALF_HOUR_S;
  let numbers = account.analytics.get(half_hour);
  if (!numbers) account.analytics.set(half_hour, (numbers = new Map()));
  const number = state.numbers.get(message.phone_number_id) as BusinessNumber;
  const digits = digitsOf(number.display_phone_number);
  const counts = numbers.get(digits) ?? { sent: 0, delivered: 0 };
  counts.sent += 1;
  if (!failed) counts.delivered += 1;
  numbers.set(digits, counts);
}

function markRead({ body, state }: Call, number: BusinessNumber): JsonObject {
  if (body['status'] !== 'read') throw upstreamError(131009, 'status must be read');
  const id = body['message_id'];
  if (id === undefined || id === '') {
    throw upstreamError(131008, 'The parameter message_id is required.');
  }
  if (typeof id !== 'string' || !id.startsWith('wamid.')) {
    throw upstreamError(131009, 'message_id is not the id of an inbound message');
  }
  const receiver = state.receiverOf(id);
  // IDs that the emulator did not issue are accepted, because webhooks can be made by hand.
  if (receiver !== undefined && receiver !== number.id) {
    throw upstreamError(131005, 'The message was sent to another phone number');
  }
  // https://developers.facebook.com/documentation/business-messaging/whatsapp/typing-indicators
  const typing = body['typing_indicator'];
  if (typing !== undefined && (!isObject(typing) || typing['type'] !== 'text')) {
    throw upstreamError(131009, 'typing_indicator.type must be text');
  }
  return { success: true };
}
