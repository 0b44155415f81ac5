import { createDailyCounts } from './store';
import { indexes } from '../collections';
import type { MessageRecord } from '../messages/message-record';
import { createMessages } from '../messages/store';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { testDatabase } from '../../../../test/testkit/database';

const SCOPE = { partner_id: 'par_1', waba_id: '900000000000001' };
const DAY_S = 86_400;
const TODAY = Date.UTC(NEXT_YEAR, 8, 21) / 1_000;
const NOW = new Date((TODAY + DAY_S / 2) * 1_000);

const db = testDatabase(indexes);

let serial = 0;
const aMessage = (over: Partial<MessageRecord> = {}): MessageRecord => {
  serial += 1;
  return {
    _id: `msg_${serial}`,
    ...SCOPE,
    phone_number_id: '800000000000001',
    message_id: `wamid.${serial}`,
    kind: 'text',
    recipient: '15550100777',
    status: 'accepted',
    sent_at: new Date(TODAY * 1_000),
    updated_at: NOW,
    ...over,
  };
};

test('counts messages by day and partner, each once, even if statuses repeat', async () => {
  const messages = createMessages(db);
  const counts = createDailyCounts(db);
  const yesterday = new Date((TODAY - 1) * 1_000);
  const read = aMessage();
  const all = [
    read,
    aMessage(),
    aMessage({ status: 'failed', sent_at: yesterday }),
    aMessage({ status: 'delivered', sent_at: yesterday }),
    aMessage({ partner_id: 'par_2' }),
    aMessage({ waba_id: '900000000000002' }),
    aMessage({ sent_at: new Date((TODAY + DAY_S) * 1_000) }),
  ];
  for (const message of all) await messages.record(message);
  const update = {
    phone_number_id: read.phone_number_id,
    message_id: read.message_id,
    status: 'read' as const,
    at: NOW,
    received_at: NOW,
    reconciled: false,
  };
  await messages.applyStatuses([update]);
  await messages.applyStatuses([update, { ...update, status: 'delivered' }]);
  const days = [TODAY - 2 * DAY_S, TODAY - DAY_S, TODAY];
  const expected = [
    { date: `${NEXT_YEAR}-09-19`, sent: 0, delivered: 0, read: 0, failed: 0 },
    { date: `${NEXT_YEAR}-09-20`, sent: 2, delivered: 1, read: 0, failed: 1 },
    { date: `${NEXT_YEAR}-09-21`, sent: 2, delivered: 1, read: 1, failed: 0 },
  ];
  await expect(counts.of(SCOPE, days, NOW)).resolves.toEqual(expected);
  // The count of a past day is cached for a while; today's never is.
  await messages.record(aMessage({ sent_at: yesterday }));
  await messages.record(aMessage());
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
