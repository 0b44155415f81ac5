// All indexes of the service.
import type { Indexes } from '@bmg/common/mongo';
import { contactIndexes, CONTACTS } from '../contacts/store';
import { countedMessageIndexes, dailyCountIndexes, DAILY_COUNTS } from '../analytics/store';
import { LEDGER_DAYS, ledgerDayIndexes } from '../ledger/store/days';
import { LEDGER_LATE, lateEntryIndexes } from '../ledger/store/late';
import { messageIndexes, MESSAGES } from '../messages/message-record';
import { refusedTokenIndexes, REFUSED_TOKENS } from '../send/refused-tokens';
import { sendClaimIndexes, SEND_CLAIMS } from '../claims/store';

export const indexes: Indexes = {
  [MESSAGES]: [...messageIndexes, ...countedMessageIndexes],
  [CONTACTS]: contactIndexes,
  [DAILY_COUNTS]: dailyCountIndexes,
  [LEDGER_DAYS]: ledgerDayIndexes,
  [LEDGER_LATE]: lateEntryIndexes,
  [REFUSED_TOKENS]: refusedTokenIndexes,
  [SEND_CLAIMS]: sendClaimIndexes,
};
