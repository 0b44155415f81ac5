export { costsOf, type CostSources } from './costs';
export { addLate } from './late';
export { createLedgerDays, LEDGER_DAYS, ledgerDayIndexes } from './store/days';
export { createLedgerEntries } from './store/entries';
export { createLateEntries, lateEntryIndexes, LEDGER_LATE } from './store/late';
export { createLedgerMonths } from './store/months';
