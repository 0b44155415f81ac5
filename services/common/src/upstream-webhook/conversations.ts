// Which conversation each item of a webhook concerns, and the Kafka key that keeps the items of a
// conversation in order while the conversations of one number are divided over partitions.

import { hash } from 'node:crypto';
import { numberKey } from '../ids';
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
} from './parties';
import { objectOf, toContact, toText, type JsonObject } from './read';

/** The other side of the conversation as the item's event names it, null if it has none. */
export type Found = Pick<Party, 'contact'> & Partial<Pick<Party, 'person'>>;
export type Finder = (item: JsonObject, about: WithContacts) => Found;
/** The finders of a value's lists by name, or one for the value as a whole. */
export type ConversationRow = ReadonlyMap<string, Finder> | Finder;

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
export const CONVERSATIONS: ReadonlyMap<string, ConversationRow> = new Map([
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
