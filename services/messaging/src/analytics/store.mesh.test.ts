import { newId } from '@bmg/common/ids';
import { createDailyCounts } from './store';
import { indexes } from '../collections';
import type { MessageRecord } from '../messages/message-record';
import { createMessages } from '../messages/store';
import { aRecord, aStatus, SCOPE } from '../../test/builders';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { testDatabase } from '../../../../test/testkit/database';

const DAY_S = 86_400;
const TODAY = Date.UTC(NEXT_YEAR, 8, 21) / 1_000;
const NOW = new Date((TODAY + DAY_S / 2) * 1_000);

const db = testDatabase(indexes);

const sent = (over: Partial<MessageRecord> = {}): MessageRecord =>
  aRecord(new Date(TODAY * 1_000), { _id: newId('msg'), ...over });

test('counts messages by day and partner, each once, even if statuses repeat', async () => {
  const messages = createMessages(db);
  const counts = createDailyCounts(db);
  const yesterday = new Date((TODAY - 1) * 1_000);
  const read = sent();
  const all = [
    read,
    sent(),
    sent({ status: 'failed', sent_at: yesterday }),
    sent({ status: 'delivered', sent_at: yesterday }),
    sent({ partner_id: 'par_2' }),
    sent({ waba_id: '900000000000002' }),
    sent({ sent_at: new Date((TODAY + DAY_S) * 1_000) }),
  ];
  for (const message of all) await messages.record(message);
  const update = aStatus(read, 'read');
  await messages.applyStatuses([update]);
  await messages.applyStatuses([update, aStatus(read, 'delivered')]);
  const days = [TODAY - 2 * DAY_S, TODAY - DAY_S, TODAY];
  const expected = [
    { date: `${NEXT_YEAR}-09-19`, sent: 0, delivered: 0, read: 0, failed: 0 },
    { date: `${NEXT_YEAR}-09-20`, sent: 2, delivered: 1, read: 0, failed: 1 },
    { date: `${NEXT_YEAR}-09-21`, sent: 2, delivered: 1, read: 1, failed: 0 },
  ];
  await expect(counts.of(SCOPE, days, NOW)).resolves.toEqual(expected);
  // The count of a past day is cached for a while; today's never is.
  await messages.record(sent({ sent_at: yesterday }));
  await messages.record(sent());
  const soon = new Date(NOW.getTime() + 60_000);
  await expect(counts.of(SCOPE, days, soon)).resolves.toMatchObject([
    { sent: 0 },
    { sent: 2 },
    { sent: 3 },
  ]);
  const later = new Date(NOW.getTime() + 3_600_000);
  await expect(counts.of(SCOPE, days, later)).resolves.toMatchObject([
    { sent: 0 },
    { sent: 3 },
    { sent: 3 },
  ]);
});
