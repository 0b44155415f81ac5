// The collections of the service: its stores on one database, all indexes, and the documents to
// delete when a client is purged (deploy/DATA.md).
import { REQUEST_CLAIMS, requestClaimIndexes } from '@bmg/common/idempotency';
import type { Databases, Indexes } from '@bmg/common/mongo';
import { below, type FilterRow } from '@bmg/common/purge';
import {
  countedMessageIndexes,
  createDailyCounts,
  DAILY_COUNTS,
  dailyCountIndexes,
} from './analytics';
import { createSendClaims, SEND_CLAIMS, sendClaimIndexes } from './claims';
import { contactIndexes, CONTACTS, createContacts, createConversations } from './contacts';
import { createOverdueRecords } from './gap-repair';
import {
  addLate,
  createLateEntries,
  createLedgerDays,
  createLedgerEntries,
  createLedgerMonths,
  lateEntryIndexes,
  LEDGER_DAYS,
  LEDGER_LATE,
  ledgerDayIndexes,
} from './ledger';
import { createMessageList } from './message-log';
import { createMessages, messageIndexes, MESSAGES } from './messages';
import { createRateCards } from './rates';
import { createRefusedTokens, REFUSED_TOKENS, refusedTokenIndexes } from './send';

export type Stores = ReturnType<typeof createStores>;

export function createStores(database: Databases, check_after_ms: number, now: () => Date) {
  const { db } = database;
  const rateCards = createRateCards(db);
  const lateEntries = createLateEntries(db);
  const ledgerMonths = createLedgerMonths(db);
  return {
    contacts: createContacts(db),
    conversations: createConversations(db),
    dailyCounts: createDailyCounts(db),
    lateEntries,
    ledgerDays: createLedgerDays(db),
    ledgerEntries: createLedgerEntries(database),
    ledgerMonths,
    messageList: createMessageList(db),
    messages: createMessages(db, check_after_ms, {
      end: () => ledgerMonths.end(),
      addLate: addLate({ lateEntries, rateCards, now }),
    }),
    overdue: createOverdueRecords(database),
    rateCards,
    refusedTokens: createRefusedTokens(db),
    sendClaims: createSendClaims(db, now),
  };
}

export const indexes: Indexes = {
  [MESSAGES]: [...messageIndexes, ...countedMessageIndexes],
  [CONTACTS]: contactIndexes,
  [DAILY_COUNTS]: dailyCountIndexes,
  [LEDGER_DAYS]: ledgerDayIndexes,
  [LEDGER_LATE]: lateEntryIndexes,
  [REFUSED_TOKENS]: refusedTokenIndexes,
  [REQUEST_CLAIMS]: requestClaimIndexes,
  [SEND_CLAIMS]: sendClaimIndexes,
};

export const purgeRows: FilterRow[] = [
  {
    collection: MESSAGES,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  {
    collection: DAILY_COUNTS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => below(`${partner_id}/${waba_id}/`),
  },
  {
    collection: LEDGER_DAYS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => below(`${partner_id}/${waba_id}/`),
  },
  {
    collection: LEDGER_LATE,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  {
    collection: REFUSED_TOKENS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => below(`${partner_id}/${waba_id}/`),
  },
  {
    collection: SEND_CLAIMS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  { collection: CONTACTS, of: 'account', filter: ({ waba_id }) => below(`${waba_id}/`) },
];
