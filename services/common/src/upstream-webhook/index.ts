// What the ingress and fan-out both know of the upstream's webhooks: how to read values without
// trusting their types, which person an item concerns, and how a body is divided by conversation.
export { createContacts, type Contacts, type Person } from './contacts';
export { conversationKey } from './conversations';
export { parseUpstream, stringifyData } from './json';
export {
  addresseeOf,
  addresseeOfAgent,
  callPartyOf,
  conversationOf,
  identityOf,
  partyOf,
  recipientOf,
  senderOf,
  sentByAgent,
  type Party,
} from './parties';
export { fieldOf, placeOf, VALUE_FRAME, type Entry, type Place } from './place';
export {
  isObject,
  listOf,
  objectOf,
  setIfGiven,
  stringOf,
  toContact,
  toDigits,
  toEpoch,
  toNumber,
  toText,
  type JsonObject,
} from './read';
export { split, type Part } from './split';
