export { costsOf, type CostSources } from './costs';
export { addLate } from './late';
export {
  createLedgerDays,
  LEDGER_DAYS,
  ledgerDayIndexes,
  createLedgerMonths,
} from './store/months';
export { createLedgerEntries } from './store/entries';
export { createLateEntries, lateEntryIndexes, LEDGER_LATE } from './store/late';
