export type { ContactFact, Conversation } from './contact-changes';
export { createRecentContacts, type RecentContacts } from './recent-contacts';
export { joinConversations } from './spellings';
export {
  contactIndexes,
  type Contacts,
  CONTACTS,
  type Conversations,
  createContacts,
  createConversations,
  KEPT_DAYS,
} from './store';
export { type Window, windowOf } from './window';
