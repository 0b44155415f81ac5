// Builds the status objects of an accepted send and the webhook value that contains them.
import type { Behaviour, Step } from './behaviour';
import { webhookError } from './errors';
import type { State } from './state';
import type { BusinessNumber, Customer, JsonObject, SentMessage } from './types';
import { digitsOf } from './ids';

/** From then on, service messages and utility templates in an open window are billable. */
const BILLABLE_FROM_MS = Date.UTC(2026, 9, 1);
const CONVERSATION_MS = 24 * 3600 * 1000;

export interface DueStatus {
  message: SentMessage;
  step: Step;
  at: number;
}

export function metadataOf(number: BusinessNumber): JsonObject {
  return {
    display_phone_number: digitsOf(number.display_phone_number),
    phone_number_id: number.id,
  };
}

/** Builds one value for all statuses of a number. */
export function statusValue(
  state: State,
  number: BusinessNumber,
  due: readonly DueStatus[],
  behaviour: Behaviour,
): JsonObject {
  const contacts = new Map<string, JsonObject>();
  const statuses: JsonObject[] = [];
  for (const item of due) addStatus(state, number, item, behaviour, statuses, contacts);
  return {
    messaging_product: 'whatsapp',
    metadata: metadataOf(number),
    ...(contacts.size > 0 ? { contacts: [...contacts.values()] } : {}),
    statuses,
  };
}

function addStatus(
  state: State,
  number: BusinessNumber,
  item: DueStatus,
  behaviour: Behaviour,
  statuses: JsonObject[],
  contacts: Map<string, JsonObject>,
): void {
  const { message, step } = item;
  const portfolio_id = state.accountOf(number).portfolio.id;
  const found = state.customer(portfolio_id, message.wa_id ?? message.user_id ?? '');
  const customer = found === 'foreign' ? null : found;
  const failed = step.status === 'failed';
  const user_id = failed && message.wa_id ? null : (customer?.user_id ?? message.user_id);
  const wa_id = message.wa_id ?? customer?.wa_id ?? null;
  statuses.push({
    id: message.id,
    status: step.status,
    timestamp: seconds(item.at),
    ...(wa_id ? { recipient_id: wa_id } : {}),
    ...(user_id ? { recipient_user_id: user_id } : {}),
    ...(!failed && customer?.parent_user_id
      ? { recipient_parent_user_id: customer.parent_user_id }
      : {}),
    ...common(item, behaviour),
  });
  if (failed || !customer) return;
  const username = step.status === 'sent' ? null : customer.username;
  contacts.set(customer.user_id, contactOf({ ...customer, wa_id, username }));
}

/** A customer in the `contacts` of a webhook. */
export function contactOf({ name, username, ...ids }: Customer): JsonObject {
  return {
    profile: { name, ...(username ? { username } : {}) },
    ...(ids.wa_id ? { wa_id: ids.wa_id } : {}),
    user_id: ids.user_id,
    ...(ids.parent_user_id ? { parent_user_id: ids.parent_user_id } : {}),
  };
}

function common({ message, step, at }: DueStatus, behaviour: Behaviour): JsonObject {
  const data = message.biz_opaque_callback_data;
  const parts: JsonObject = {};
  if (data !== null) parts['biz_opaque_callback_data'] = data;
  if (message.template_id) parts['template_id'] = message.template_id;
  if (step.status === 'failed') {
    parts['errors'] = [webhookError(step.code ?? 131000)];
    return parts;
  }
  parts['conversation'] = {
    id: conversationId(message, at),
    ...(step.status === 'sent' ? { expiration_timestamp: seconds(at + CONVERSATION_MS) } : {}),
    origin: { type: message.category },
  };
  // Pricing comes with `sent` and one later status, never with a read receipt.
  if (step.status !== 'read') {
    const free = message.free && !(behaviour.service_billable ?? at >= BILLABLE_FROM_MS);
    parts['pricing'] = {
      billable: !free,
      pricing_model: 'PMP',
      type: free ? 'free_customer_service' : 'regular',
      category: message.category,
    };
  }
  return parts;
}

/** Depends on recipient, category and day only, like a real conversation ID. */
function conversationId(message: SentMessage, at: number): string {
  const peer = message.wa_id ?? message.user_id ?? '';
  const day = Math.floor(at / CONVERSATION_MS);
  return Buffer.from(`${message.phone_number_id}:${peer}:${message.category}:${day}`).toString(
    'hex',
  );
}

export function seconds(ms: number): string {
  return String(Math.floor(ms / 1000));
}
