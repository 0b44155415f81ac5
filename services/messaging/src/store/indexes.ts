// All indexes of the service.
import type { Indexes } from '@bmg/common/mongo';
import { contactIndexes, CONTACTS } from './contacts';
import { countedMessageIndexes, dailyCountIndexes, DAILY_COUNTS } from './daily-counts';
import { LEDGER_DAYS, ledgerDayIndexes } from './ledger-days';
import { LEDGER_LATE, lateEntryIndexes } from './ledger-late';
import { messageIndexes, MESSAGES } from './message-record';
import { refusedTokenIndexes, REFUSED_TOKENS } from './refused-tokens';
import { sendClaimIndexes, SEND_CLAIMS } from './send-claims';

export const indexes: Indexes = {
  [MESSAGES]: [...messageIndexes, ...countedMessageIndexes],
  [CONTACTS]: contactIndexes,
  [DAILY_COUNTS]: dailyCountIndexes,
  [LEDGER_DAYS]: ledgerDayIndexes,
  [LEDGER_LATE]: lateEntryIndexes,
  [REFUSED_TOKENS]: refusedTokenIndexes,
  [SEND_CLAIMS]: sendClaimIndexes,
};
