// The other side of the items of a webhook: who wrote, who was written to, who called.

import { parseBsuid } from '../ids';
import { findPerson, type Contacts, type Person } from './contacts';
import { objectOf, toContact, toText, type JsonObject } from './read';

export interface WithContacts {
  /** The contacts of the value that holds the item. */
  readonly contacts: Contacts;
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

export function partyOf(
  { contacts }: WithContacts,
  from: string | null,
  from_user_id: string | null,
): Party {
  const { phone, bsuid: user_id } = identityOf(from, from_user_id);
  const person = findPerson(contacts, phone, user_id);
  const bsuid = user_id ?? person?.user_id ?? null;
  return { phone, bsuid, person, contact: toContact(phone ?? person?.wa_id ?? bsuid) };
}

/** The key of the conversation. A group is one conversation, regardless of the sender. */
export function conversationOf(message: JsonObject, party: Party): string | null {
  return toText(message.group_id) ?? party.contact;
}

export const senderOf = (message: JsonObject, about: WithContacts): Party =>
  partyOf(about, toText(message.from), toText(message.from_user_id));

/** The person of a status, of a message or a call. */
export const recipientOf = (status: JsonObject, about: WithContacts): Party =>
  partyOf(about, toText(status.recipient_id), toText(status.recipient_user_id));

/** The person who got a message from the business app. */
export const addresseeOf = (echo: JsonObject, about: WithContacts): Party =>
  partyOf(about, toText(echo.to), toText(echo.to_user_id));

/** The message in the echo of an agent, which wraps its send request; older samples are flat. */
export const sentByAgent = (echo: JsonObject): JsonObject => objectOf(echo.message) ?? echo;

export const addresseeOfAgent = (sent: JsonObject, about: WithContacts): Party =>
  partyOf(about, toText(sent.to), toText(sent.recipient) ?? toText(sent.to_user_id));

export const isCallByBusiness = (call: JsonObject): boolean =>
  call.direction === 'BUSINESS_INITIATED';

export const callPartyOf = (call: JsonObject, about: WithContacts): Party =>
  isCallByBusiness(call)
    ? partyOf(about, toText(call.to), toText(call.to_user_id))
    : partyOf(about, toText(call.from), toText(call.from_user_id));
