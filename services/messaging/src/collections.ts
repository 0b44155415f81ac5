// All stores of the service on one database.
import type { Db } from 'mongodb';
import { addLate } from './ledger/late';
import { createContacts, createConversations } from './contacts/store';
import { createDailyCounts } from './analytics/store';
import { createLedgerDays } from './ledger/store/days';
import { createLedgerEntries } from './ledger/store/entries';
import { createLateEntries } from './ledger/store/late';
import { createLedgerMonths } from './ledger/store/months';
import { createMessageList } from './message-log/store';
import { createMessages } from './messages/store';
import { createOverdueRecords } from './gap-repair/store';
import { createRateCards } from './rates/store';
import { createRefusedTokens } from './send/refused-tokens';
import { createSendClaims } from './claims/store';

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
