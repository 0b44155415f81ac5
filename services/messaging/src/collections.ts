// The collections of the service: its stores on one database, all indexes, and the documents to
// delete when a client is purged (deploy/DATA.md).
import { REQUEST_CLAIMS, requestClaimIndexes } from '@bmg/common/idempotency';
import type { Databases, Indexes } from '@bmg/common/mongo';
import { below, type ClientScope, type FilterRow } from '@bmg/common/purge';
import { createDailyCounts, DAILY_COUNTS, dailyCountIndexes } from './analytics';
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
  [MESSAGES]: messageIndexes,
  [CONTACTS]: contactIndexes,
  [DAILY_COUNTS]: dailyCountIndexes,
  [LEDGER_DAYS]: ledgerDayIndexes,
  [LEDGER_LATE]: lateEntryIndexes,
  [REFUSED_TOKENS]: refusedTokenIndexes,
  [REQUEST_CLAIMS]: requestClaimIndexes,
  [SEND_CLAIMS]: sendClaimIndexes,
};

/** Documents that name their client, and those whose ids begin with it. */
const named = ({ partner_id, waba_id }: ClientScope) => ({ partner_id, waba_id });
const keyed = ({ partner_id, waba_id }: ClientScope) => below(`${partner_id}/${waba_id}/`);

export const purgeRows: FilterRow[] = [
  { collection: MESSAGES, of: 'client', filter: named },
  { collection: DAILY_COUNTS, of: 'client', filter: keyed },
  { collection: LEDGER_DAYS, of: 'client', filter: keyed },
  { collection: LEDGER_LATE, of: 'client', filter: named },
  { collection: REFUSED_TOKENS, of: 'client', filter: keyed },
  { collection: SEND_CLAIMS, of: 'client', filter: named },
  { collection: CONTACTS, of: 'account', filter: ({ waba_id }) => below(`${waba_id}/`) },
];
