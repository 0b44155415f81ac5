export type { ContactFact, Conversation } from './contact-changes';
export { createRecentContacts } from './recent';
export {
  joinConversations,
  contactIndexes,
  type Contacts,
  CONTACTS,
  createContacts,
  createConversations,
  KEPT_DAYS,
} from './store';
export { type Window, windowOf } from './window';
