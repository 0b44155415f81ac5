// POST /{number}/messages: sends and read receipts. The recipient is checked in
// message-recipient.ts, the content in message-content.ts, a template in message-template.ts.
import { stepsFor } from '../behaviour';
import { numberOf, routesOf, type Call } from '../core';
import { upstreamError } from '../errors';
import { digitsOf } from '../ids';
import { isBlocked } from '../inbound';
import { WINDOW_MS } from '../limits';
import type { Account, BusinessNumber, JsonObject, Pacing, SentMessage } from '../types';
import { checkContent } from './message-content';
import { recipientOf, type Recipient } from './message-recipient';
import { checkTemplate } from './message-template';
import { callbackDataOf, checkTexts, isObject, requireProduct } from './parameters';

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
  const { body, core, state, raw } = call;
  const account = state.accountOf(number);
  const recipient = recipientOf(call, number);
  const { type = 'text' } = body;
  if (typeof type !== 'string') throw upstreamError(131009, 'type must be a string');
  const biz_opaque_callback_data = callbackDataOf(body);
  checkContext(body['context']);
  const template = type === 'template' ? checkTemplate(account, body['template'], recipient) : null;
  if (!template) checkContent(call, number, type);
  const peer = recipient.wa_id ?? (recipient.user_id as string);
  const last = state.lastInbound(number.id, peer);
  const window_open = last !== undefined && Date.now() - last < WINDOW_MS;
  const outside = !template && !window_open;
  if (outside && core.limits.settings.window_check === 'refuse') {
    throw upstreamError(131047, 'More than 24 hours have passed since the customer last replied');
  }
  core.limits.take(number);
  const category = template?.category.toLowerCase() ?? 'service';
  const message: SentMessage = {
    ...recipient,
    seq: core.journal.messages.nextSeq(),
    id: core.ids.message(),
    waba_id: number.waba_id,
    phone_number_id: number.id,
    type,
    raw,
    biz_opaque_callback_data,
    time: Date.now(),
    category,
    template_id: template?.id ?? null,
    free: category === 'service' || (category === 'utility' && window_open),
    history: [],
  };
  core.journal.addMessage(message);
  const pacing = template?.pacing ?? 'none';
  plan(call, account, message, { peer, outside, pacing });
  const message_status = pacing === 'none' ? 'accepted' : 'held_for_quality_assessment';
  return {
    messaging_product: 'whatsapp',
    contacts: [contactOf(recipient)],
    messages: [{ id: message.id, ...(template ? { message_status } : {}) }],
  };
}

/** `input` repeats the recipient as sent; a phone number wins over a business-scoped ID. */
const contactOf = ({ to, recipient, wa_id, user_id }: Recipient): JsonObject =>
  wa_id ? { input: to, wa_id } : { input: recipient, user_id };

function checkContext(context: unknown): void {
  if (context === undefined || context === null) return;
  if (!isObject(context)) throw upstreamError(131009, 'context must be an object');
  checkTexts(context, 'context', { message_id: 1000 });
}

interface SendFacts {
  peer: string;
  /** A message that needs an open window, outside it. */
  outside: boolean;
  pacing: Pacing;
}

function plan(call: Call, account: Account, message: SentMessage, facts: SendFacts): void {
  const { behaviour, webhooks } = call.core;
  const failure = failureOf(call, account, message, facts);
  count(account, call, message, failure !== null);
  if (!account.subscribed) return;
  const { current, random } = behaviour;
  const held_ms = facts.pacing === 'none' ? 0 : PACING_DELAY_MS;
  const steps = stepsFor(current, random, message.type, failure);
  webhooks.planStatuses(
    message,
    steps.map((step) => ({ ...step, after_ms: step.after_ms + held_ms })),
  );
}

/** The code with which a send fails later, or null. */
function failureOf(
  { core, state }: Call,
  account: Account,
  message: SentMessage,
  { peer, outside, pacing }: SendFacts,
): number | null {
  const rule = core.behaviour.failureFor([message.wa_id, message.user_id]);
  if (rule) return rule.code;
  if (pacing === 'drop') return 132015;
  // Documented as an error without a code: this is the code of all undeliverable messages.
  const number = state.numbers.get(message.phone_number_id);
  if (number && isBlocked(number, message)) return 131026;
  if (outside && core.limits.settings.window_check === 'fail_later') return 131047;
  // The platform detects an ID of another portfolio only on delivery.
  const foreign =
    message.user_id !== null && state.customer(account.portfolio.id, peer) === 'foreign';
  return foreign ? 131026 : null;
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
  const { message_id: id = '' } = body;
  if (id === '') throw upstreamError(131008, 'The parameter message_id is required.');
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
