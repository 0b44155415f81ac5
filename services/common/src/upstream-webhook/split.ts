// Splits a raw webhook body into Kafka messages, one for each key. Usually that is one message with
// the unchanged bytes: a body concerns one conversation. Kafka keeps order only within a key.
import { hash } from 'node:crypto';
import { numberKey } from '../ids';
import { parseUpstream, stringifyData } from './json';
import {
  addresseeOf,
  addresseeOfAgent,
  callPartyOf,
  conversationOf,
  partyOf,
  recipientOf,
  senderOf,
  sentByAgent,
  type Party,
  type WithContacts,
  createContacts,
  type Contacts,
} from './parties';
import {
  objectOf,
  toContact,
  toText,
  type JsonObject,
  fieldOf,
  placeOf,
  VALUE_FRAME,
  isObject,
  listOf,
} from './read';

/** The other side of the conversation as the item's event names it, null if it has none. */
type Found = Pick<Party, 'contact'> & Partial<Pick<Party, 'person'>>;
type Finder = (item: JsonObject, about: WithContacts) => Found;
/** The finders of a value's lists by name, or one for the value as a whole. */
type ConversationRow = ReadonlyMap<string, Finder> | Finder;

/** A message in a group belongs to the conversation of the group. */
const inConversation = (message: JsonObject, party: Party): Found => ({
  person: party.person,
  contact: conversationOf(message, party),
});
const byIds = (phone: unknown, user_id: unknown): Found => ({
  contact: toContact(toText(phone) ?? toText(user_id)),
});

const sender: Finder = (message, about) => inConversation(message, senderOf(message, about));
const addressee: Finder = (echo, about) => inConversation(echo, addresseeOf(echo, about));
const addresseeByAgent: Finder = (echo, about) => {
  const sent = sentByAgent(echo);
  return inConversation(sent, addresseeOfAgent(sent, about));
};
const group: Finder = ({ group_id }) => ({ contact: toText(group_id) });
const appContact: Finder = ({ contact }) => {
  const person = objectOf(contact);
  return byIds(person?.phone_number, person?.user_id);
};
const newId: Finder = ({ wa_id, user_id }) => byIds(wa_id, objectOf(user_id)?.current);
const customer: Finder = ({ wa_id, user_id }, about) =>
  partyOf(about, toText(wa_id), toText(user_id));
const handedOver: Finder = (value) => {
  const person = objectOf(value.sender);
  return byIds(person?.phone_number, person?.user_id);
};

const lists = (finders: Record<string, Finder>): ConversationRow =>
  new Map(Object.entries(finders));

/**
 * The fields whose items concern conversations. `history` has none: what is replayed of the past keeps
 * the order of its number.
 */
const CONVERSATIONS: ReadonlyMap<string, ConversationRow> = new Map([
  ['messages', lists({ messages: sender, statuses: recipientOf })],
  ['smb_message_echoes', lists({ message_echoes: addressee })],
  ['smb_app_state_sync', lists({ state_sync: appContact })],
  ['standby', lists({ messages: sender, statuses: recipientOf, message_echoes: addresseeByAgent })],
  ['calls', lists({ calls: callPartyOf, statuses: recipientOf })],
  ['user_id_update', lists({ user_id_update: newId })],
  ['user_preferences', lists({ user_preferences: customer })],
  ['messaging_handovers', handedOver],
  ['group_lifecycle_update', lists({ groups: group })],
  ['group_participants_update', lists({ groups: group })],
  ['group_settings_update', lists({ groups: group })],
  ['group_status_update', lists({ groups: group })],
]);

/** Bounds the parts of one body. A number uses about nine of twelve partitions. */
const LANES = 16;

/**
 * The Kafka key of what concerns a conversation: `place` (number, else account) and one of 16 lanes by
 * the person, both spellings of whose number are one. Without a conversation it is the place.
 */
export const conversationKey = (place: string, contact: string | null | undefined): string =>
  contact === null || contact === undefined
    ? place
    : `${place}/${hash('sha1', numberKey(contact), 'buffer').readUInt32BE() % LANES}`;

export interface Part {
  key: string;
  bytes: Buffer;
}

/** Of each key, what a body or a part of one holds. The parts of a key keep the order of the whole. */
type Keyed<T> = Map<string, T>;

const NOBODY: Found = { contact: null };

/** Returns parts that together hold every item of the body once. Never throws. */
export function split(body: Buffer): Part[] {
  try {
    const { body: whole, lossless } = parseUpstream(body);
    if (!isObject(whole)) return [{ key: '', bytes: body }];
    const parts = entriesOf(whole);
    if (parts.size > 1) {
      return [...parts].map(([key, entry]) => ({
        key,
        bytes: Buffer.from(stringifyData({ ...whole, entry }, lossless), 'utf8'),
      }));
    }
    const [key = ''] = parts.keys();
    return [{ key, bytes: body }];
  } catch {
    // Not JSON, or nested too deep: fan-out refuses it and gives the reason.
    return [{ key: '', bytes: body }];
  }
}

function entriesOf({ entry: list }: JsonObject): Keyed<unknown[]> {
  const parts: Keyed<unknown[]> = new Map();
  for (const entry of listOf(list)) {
    if (!isObject(entry)) {
      add(parts, '', entry);
      continue;
    }
    const changes: Keyed<unknown[]> = new Map();
    for (const change of listOf(entry.changes)) {
      for (const [key, part] of changesOf(change, toText(entry.id))) add(changes, key, part);
    }
    if (changes.size === 0) add(parts, toText(entry.id) ?? '', entry);
    for (const [key, own] of changes) add(parts, key, { ...entry, changes: own });
  }
  return parts;
}

function changesOf(change: unknown, id: string | null): Keyed<unknown> {
  if (!isObject(change)) return new Map([[id ?? '', change]]);
  const field = fieldOf(change) ?? '';
  const row = CONVERSATIONS.get(field);
  const values: Keyed<unknown[]> = new Map();
  for (const value of listOf(change.value)) {
    const known = objectOf(value) ?? {};
    const place = placeOf(known, { id }).key;
    if (row instanceof Map && isFramed(known)) {
      // The lists of `standby` are one level deeper in real traffic.
      const isNested = field === 'standby' && Object.hasOwn(known, 'standby');
      const parts = isNested
        ? nestedOf(known, row, place)
        : listsOf(known, createContacts(known.contacts), row, place);
      for (const [key, part] of parts) add(values, key, part);
    } else {
      const contacts = createContacts(known.contacts);
      const { contact } = typeof row === 'function' ? row(known, { contacts }) : NOBODY;
      add(values, conversationKey(place, contact), value);
    }
  }
  if (values.size <= 1) return new Map([[[...values.keys()][0] ?? id ?? '', change]]);
  return new Map([...values].map(([key, value]) => [key, { ...change, value }]));
}

/** Only what frames a value is copied into each of its parts, and names the number there. */
const isFramed = (value: JsonObject): boolean =>
  toText(objectOf(value.metadata)?.phone_number_id) !== null && value.waba_info === undefined;

function nestedOf(
  value: JsonObject,
  row: ReadonlyMap<string, Finder>,
  place: string,
): Keyed<unknown> {
  const parts: Keyed<unknown[]> = new Map();
  for (const inner of listOf(value.standby)) {
    const held: Keyed<unknown> = isObject(inner)
      ? listsOf(inner, createContacts(inner.contacts ?? value.contacts), row, place)
      : new Map([[place, inner]]);
    for (const [key, part] of held) add(parts, key, part);
  }
  if (parts.size === 0) return new Map([[place, value]]);
  return new Map([...parts].map(([key, standby]) => [key, { ...value, standby }]));
}

function listsOf(
  value: JsonObject,
  contacts: Contacts,
  row: ReadonlyMap<string, Finder>,
  place: string,
): Keyed<JsonObject> {
  // Maps, because a list's name comes from outside and may be that of a prototype.
  const parts: Keyed<{ fields: Map<string, unknown>; people: Set<unknown> }> = new Map();
  const frame = Object.entries(value).filter(([name]) => VALUE_FRAME.has(name));
  const partOf = (key: string) => {
    const part = parts.get(key) ?? { fields: new Map(frame), people: new Set() };
    parts.set(key, part);
    return part;
  };
  for (const [name, held] of Object.entries(value)) {
    const find = row.get(name);
    if (find === undefined) {
      if (!VALUE_FRAME.has(name)) partOf(place).fields.set(name, held);
      continue;
    }
    for (const item of listOf(held)) {
      const { contact, person }: Found = isObject(item) ? find(item, { contacts }) : NOBODY;
      const part = partOf(conversationKey(place, contact));
      part.people.add(person?.item);
      const list = part.fields.get(name) as unknown[] | undefined;
      if (list) list.push(item);
      else part.fields.set(name, [item]);
    }
  }
  if (parts.size <= 1) return new Map([[[...parts.keys()][0] ?? place, value]]);
  return new Map(
    [...parts].map(([key, { fields, people }]) => {
      // With several contacts, an item that names none of them must not find a single one.
      if ((value.contacts ?? undefined) !== undefined && !people.has(undefined)) {
        fields.set(
          'contacts',
          listOf(value.contacts).filter((one) => people.has(one)),
        );
      }
      return [key, Object.fromEntries(fields)];
    }),
  );
}

function add<T>(parts: Keyed<T[]>, key: string, part: T): void {
  const known = parts.get(key);
  if (known) known.push(part);
  else parts.set(key, [part]);
}
