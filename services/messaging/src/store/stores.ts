// All stores of the service on one database.
import type { Db } from 'mongodb';
import { addLate } from '../ledger/late';
import { createContacts, createConversations } from './contacts';
import { createDailyCounts } from './daily-counts';
import { createLedgerDays } from './ledger-days';
import { createLedgerEntries } from './ledger-entries';
import { createLateEntries } from './ledger-late';
import { createLedgerMonths } from './ledger-months';
import { createMessageList } from './message-list';
import { createMessages } from './messages';
import { createOverdueRecords } from './overdue-records';
import { createRateCards } from './rate-cards';
import { createRefusedTokens } from './refused-tokens';
import { createSendClaims } from './send-claims';

export type Stores = ReturnType<typeof createStores>;

export function createStores(db: Db, check_after_ms: number, now: () => Date) {
  const rateCards = createRateCards(db);
  const lateEntries = createLateEntries(db);
  const ledgerMonths = createLedgerMonths(db);
  return {
    contacts: createContacts(db),
    conversations: createConversations(db),
    dailyCounts: createDailyCounts(db),
    lateEntries,
    ledgerDays: createLedgerDays(db),
    ledgerEntries: createLedgerEntries(db),
    ledgerMonths,
    messageList: createMessageList(db),
    messages: createMessages(db, check_after_ms, {
      end: () => ledgerMonths.end(),
      addLate: addLate({ lateEntries, rateCards, now }),
    }),
    overdue: createOverdueRecords(db),
    rateCards,
    refusedTokens: createRefusedTokens(db),
    sendClaims: createSendClaims(db, now),
  };
}
