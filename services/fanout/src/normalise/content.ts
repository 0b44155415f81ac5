// The parts that all message events share: the type, the text and the other side of the
// conversation.

import { parseBsuid } from '@bmg/common/ids';
import { findPerson, type Person } from './contacts';
import type { Context } from './context';
import { isObject, objectOf, toContact, stringOf, toText, type JsonObject } from './read';

export function typeOf(message: JsonObject): string | null {
  return toText(message.type);
}

/**
 * The text, a media caption or a button's text. It is null for order and interactive messages
 * (contract 12.2), and for an edit, whose new text is not a new message: it stays
 * in `raw.message`.
 */
export function textOf(message: JsonObject): string | null {
  const type = typeOf(message);
  if (type === null || type === 'text') return stringOf(objectOf(message.text)?.body);
  if (type === 'order' || type === 'interactive') return null;
  const content = Object.hasOwn(message, type) ? message[type] : null;
  if (!isObject(content)) return null;
  return stringOf(type === 'button' ? content.text : content.caption);
}

/** The other side of a message. Upstream may hide the phone or the name. */
export interface Party {
  readonly phone: string | null;
  readonly bsuid: string | null;
  readonly person: Person | null;
  /** The key of the conversation: phone digits, else BSUID. */
  readonly contact: string | null;
}

/** A BSUID that stands in the place of a phone number is one all the same. */
export function identityOf(
  phone: string | null,
  user_id: string | null,
): Pick<Party, 'phone' | 'bsuid'> {
  const misplaced = phone === null ? null : parseBsuid(phone);
  return misplaced === null
    ? { phone, bsuid: user_id }
    : { phone: null, bsuid: user_id ?? misplaced };
}

export function partyOf(context: Context, from: string | null, from_user_id: string | null): Party {
  const { phone, bsuid: user_id } = identityOf(from, from_user_id);
  const person = findPerson(context.contacts, phone, user_id);
  const bsuid = user_id ?? person?.user_id ?? null;
  return { phone, bsuid, person, contact: toContact(phone ?? person?.wa_id ?? bsuid) };
}

/** The key of the conversation. A group is one conversation, regardless of the sender. */
export function conversationOf(message: JsonObject, party: Party): string | null {
  return toText(message.group_id) ?? party.contact;
}
