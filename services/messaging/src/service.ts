import { defineService, ownIndexes, purge } from '@bmg/common/service';
import { analytics } from './analytics/feature';
import { purgeRows } from './collections';
import { contactBook } from './contacts/feature';
import { openDependencies } from './dependencies';
import { gapRepair } from './gap-repair/feature';
import { ledger } from './ledger/feature';
import { media } from './media/feature';
import { messageLog } from './message-log/feature';
import { messageRecords } from './messages/feature';
import { preflight } from './preflight/feature';
import { rates } from './rates/feature';
import { sends } from './send/feature';

export const createMessaging = defineService({
  name: 'messaging',
  open: openDependencies,
  features: [
    sends,
    // A batch of statuses passes these three in this order.
    gapRepair,
    messageRecords,
    contactBook,
    media,
    messageLog,
    preflight,
    analytics,
    ledger,
    rates,
    purge(purgeRows),
    ownIndexes,
  ],
});
