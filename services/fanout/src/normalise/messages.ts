// `messages`: messages that people send to the number, and statuses of messages that it sent.

import { conversationOf, partyOf, textOf, typeOf, type Party } from './content';
import {
  eachList,
  emit,
  ignore,
  keyOfItem,
  timeOf,
  valueErrors,
  type Context,
  type FieldRows,
  type ItemReader,
} from './context';
import { setIfGiven, toText, type JsonObject } from './read';
import { readStatus } from './statuses';

const LISTS: ReadonlyMap<string, ItemReader> = new Map([
  ['messages', readMessage],
  ['statuses', readStatus],
  ['errors', valueErrors],
  ['user_actions', (_item, context) => ignore(context, 'no_event')],
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
}

export function senderOf(message: JsonObject, context: Context): Party {
  return partyOf(context, toText(message.from), toText(message.from_user_id));
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
