// The other side of the items of a webhook: who wrote, who was written to, who called. Its contact
// is found by ID, never by position, and through an index, because a value may hold a thousand of
// each.
import { isSameNumber, numberKey, parseBsuid } from '../ids';
import { listOf, objectOf, stringOf, toText, type JsonObject, toContact } from './read';

export interface Person {
  /** The entry that the upstream sent, unchanged. */
  readonly item: JsonObject;
  readonly name: string | null;
  readonly username: string | null;
  readonly wa_id: string | null;
  readonly user_id: string | null;
  readonly parent_user_id: string | null;
}

export interface Contacts {
  readonly list: readonly unknown[];
  index: Index | null;
}

interface Index {
  readonly people: readonly Person[];
  /** Keyed by the number's key: `from` and `wa_id` may be two spellings of one number. */
  readonly by_wa_id: ReadonlyMap<string, Person>;
  readonly by_user_id: ReadonlyMap<string, Person>;
}

/** The index is built on the first lookup. */
export function createContacts(list: unknown): Contacts {
  return { list: listOf(list), index: null };
}

/**
 * The contact with the phone `wa_id`, else with the BSUID `user_id`; null when there is none. An
 * item without either id belongs to the only contact; with several contacts the answer is null.
 */
function findPerson(
  contacts: Contacts,
  wa_id: string | null,
  user_id: string | null,
): Person | null {
  if (contacts.list.length === 0) return null;
  if (contacts.list.length === 1) return soleIfMatching(personOf(contacts.list[0]), wa_id, user_id);
  const { people, by_wa_id, by_user_id } = (contacts.index ??= indexOf(contacts.list));
  if (wa_id === null && user_id === null) return people.length === 1 ? (people[0] ?? null) : null;
  const known = wa_id === null ? undefined : by_wa_id.get(numberKey(wa_id));
  return known ?? (user_id === null ? null : (by_user_id.get(user_id) ?? null));
}

/** Nearly every value has one contact: comparing it is cheaper than building an index. */
function soleIfMatching(
  person: Person | null,
  wa_id: string | null,
  user_id: string | null,
): Person | null {
  if (wa_id === null && user_id === null) return person;
  if (wa_id !== null && person?.wa_id && isSameNumber(person.wa_id, wa_id)) return person;
  return user_id !== null && person?.user_id === user_id ? person : null;
}

function indexOf(list: readonly unknown[]): Index {
  const people = list.flatMap((item) => personOf(item) ?? []);
  const by_wa_id = new Map<string, Person>();
  const by_user_id = new Map<string, Person>();
  for (const person of people) {
    if (person.wa_id !== null) by_wa_id.set(numberKey(person.wa_id), person);
    if (person.user_id !== null) by_user_id.set(person.user_id, person);
  }
  return { people, by_wa_id, by_user_id };
}

function personOf(item: unknown): Person | null {
  const contact = objectOf(item);
  if (contact === null) return null;
  const profile = objectOf(contact.profile);
  return {
    item: contact,
    name: stringOf(profile?.name),
    username: toText(profile?.username),
    wa_id: toText(contact.wa_id),
    user_id: toText(contact.user_id),
    parent_user_id: toText(contact.parent_user_id),
  };
}

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

const isCallByBusiness = (call: JsonObject): boolean => call.direction === 'BUSINESS_INITIATED';

export const callPartyOf = (call: JsonObject, about: WithContacts): Party =>
  isCallByBusiness(call)
    ? partyOf(about, toText(call.to), toText(call.to_user_id))
    : partyOf(about, toText(call.from), toText(call.from_user_id));
