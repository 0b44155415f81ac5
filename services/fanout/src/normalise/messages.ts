// `messages`: messages that people send to the number, and statuses of messages that it sent.

import {
  conversationOf,
  objectOf,
  senderOf,
  setIfGiven,
  toText,
  type JsonObject,
  type Party,
} from '@bmg/common/upstream-webhook';
import { textOf, typeOf } from './content';
import {
  eachList,
  emit,
  emitExtra,
  keyOfItem,
  timeOf,
  valueErrors,
  type Context,
  type FieldRows,
  type ItemReader,
} from './context';
import { readStatus } from './statuses';

const LISTS: ReadonlyMap<string, ItemReader> = new Map([
  ['messages', readMessage],
  ['statuses', readStatus],
  ['errors', valueErrors],
]);

export const messageFields: FieldRows = { messages };

function messages(value: JsonObject, context: Context): void {
  eachList(value, context, LISTS);
}

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
