// All indexes of the service.
import type { Indexes } from '@bmg/common/mongo';
import { contactIndexes, CONTACTS } from './contacts';
import { countedMessageIndexes, dailyCountIndexes, DAILY_COUNTS } from './daily-counts';
import { messageIndexes, MESSAGES } from './messages';

export const indexes: Indexes = {
  [MESSAGES]: [...messageIndexes, ...countedMessageIndexes],
  [CONTACTS]: contactIndexes,
  [DAILY_COUNTS]: dailyCountIndexes,
};
