export { createSendJournal, type JournalEntry, type SendJournal } from './journal';
