// What all events about a message have in common: its type, its text, its other side.

import { findPerson, type Person } from './contacts';
import type { Context } from './context';
import { isObject, objectOf, toContact, stringOf, toText, type JsonObject } from './read';

export function typeOf(message: JsonObject): string | null {
  return toText(message.type);
}

/**
 * The text, a media caption or a button's text. Event names: `text` is null for order and
 * interactive messages. An edit's new text is not a new message, so it stays in the raw message.
 */
export function textOf(message: JsonObject): string | null {
  const type = typeOf(message);
  if (type === null || type === 'text') return stringOf(objectOf(message.text)?.body);
  if (type === 'order' || type === 'interactive') return null;
  const content = Object.hasOwn(message, type) ? message[type] : null;
  if (!isObject(content)) return null;
  return stringOf(type === 'button' ? content.text : content.caption);
}

/** The person at the other end of a message, as far as upstream shows them. */
export interface Party {
  readonly phone: string | null;
  readonly bsuid: string | null;
  readonly person: Person | null;
  /** What the conversation is filed under: phone digits, else BSUID. */
  readonly contact: string | null;
}

export function partyOf(context: Context, phone: string | null, user_id: string | null): Party {
  const person = findPerson(context.contacts, phone, user_id);
  const bsuid = user_id ?? person?.user_id ?? null;
  return { phone, bsuid, person, contact: toContact(phone ?? person?.wa_id ?? bsuid) };
}

/** Group traffic is one conversation, whoever of the group speaks. */
export function conversationOf(message: JsonObject, party: Party): string | null {
  return toText(message.group_id) ?? party.contact;
}
