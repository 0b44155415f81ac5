export { createSendJournal, type JournalEntry } from './journal';
