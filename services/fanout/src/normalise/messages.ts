// `messages`: messages that people send to the number, and statuses of messages that it sent.
import {
  conversationOf,
  isObject,
  objectOf,
  senderOf,
  setIfGiven,
  stringOf,
  toText,
  type JsonObject,
  type Party,
} from '@bmg/common/upstream-webhook';
import { emit, emitExtra, keyOfItem, lists, timeOf, type Context, type FieldRows } from './context';
import { readStatus } from './statuses';

export const messageFields: FieldRows = {
  messages: lists({ messages: readMessage, statuses: readStatus }),
};

function readMessage(item: JsonObject, context: Context): void {
  const sender = senderOf(item, context);
  emit(context, {
    event: 'message.received',
    occurrence: keyOfItem('message', item, context),
    contact: conversationOf(item, sender),
    timestamp: timeOf(item.timestamp, context),
    data: receivedData(item, sender),
  });
  if (item.type === 'system') idChanged(item, sender, context);
}

/** A system message that announces a new phone number or BSUID of its sender. */
function idChanged(message: JsonObject, sender: Party, context: Context): void {
  const system = objectOf(message.system);
  const is_number = system?.type === 'user_changed_number';
  if (!is_number && system?.type !== 'user_changed_user_id') return;
  const current = toText(is_number ? system.wa_id : system.user_id);
  if (current === null) return;
  const stated = is_number ? sender.phone : (toText(system.previous_user_id) ?? sender.bsuid);
  // Real traffic may have the new BSUID in both places.
  const previous = stated === current ? null : stated;
  emitExtra(context, {
    event: 'contact.id_changed',
    occurrence: keyOfItem('id_changed', message, context),
    contact: sender.contact,
    timestamp: timeOf(message.timestamp, context),
    data: {
      id_type: is_number ? 'phone_number' : 'bsuid',
      previous,
      current,
      phone_number: is_number ? current : sender.phone,
      raw: { change: message },
    },
  });
}

export function typeOf(message: JsonObject): string | null {
  return toText(message.type);
}

/**
 * The text, a media caption or a button's text. It is null for order and interactive messages
 * (contract 12.2), and for an edit, whose new text is not a new message: it stays in `raw.message`.
 */
export function textOf(message: JsonObject): string | null {
  const type = typeOf(message);
  if (type === null || type === 'text') return stringOf(objectOf(message.text)?.body);
  if (type === 'order' || type === 'interactive') return null;
  const content = Object.hasOwn(message, type) ? message[type] : null;
  if (!isObject(content)) return null;
  return stringOf(type === 'button' ? content.text : content.caption);
}

/** `from` is absent when only a BSUID is known (contract 12.2). */
export function receivedData(message: JsonObject, sender: Party): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  setIfGiven(data, 'from', sender.phone);
  data.bsuid = sender.bsuid;
  data.message_id = toText(message.id);
  data.type = typeOf(message);
  data.text = textOf(message);
  setIfGiven(data, 'contact', contactOf(sender));
  data.raw = { message };
  return data;
}

const CONTACT_FIELDS = ['name', 'username', 'wa_id', 'parent_user_id'] as const;

/** Null without any of the fields. The BSUID stands beside the contact. */
function contactOf({ person }: Party): Record<string, unknown> | null {
  if (person === null) return null;
  const contact: Record<string, unknown> = {};
  let found = false;
  for (const field of CONTACT_FIELDS) {
    setIfGiven(contact, field, person[field]);
    found ||= person[field] !== null;
  }
  return found ? contact : null;
}
