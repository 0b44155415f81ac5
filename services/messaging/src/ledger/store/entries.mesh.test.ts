import { emptyDatabase, testDatabase } from '../../../../../test/testkit/database';
import { MESSAGES, type MessageRecord } from '../../messages';
import { createLedgerEntries } from './entries';

const db = testDatabase();

test.each([1, 1_000])('counts a day at once or by the hour: above %i messages', async (max) => {
  await emptyDatabase(db);
  const at = (time: string) => new Date(`2026-09-01T${time}:00Z`);
  const names = { partner_id: 'p', waba_id: 'w', phone_number_id: 'n' };
  const sent = (_id: string, time: string, arrived: boolean) =>
    ({ _id, ...names, sent_at: at(time), arrived }) as MessageRecord;
  await db
    .collection<MessageRecord>(MESSAGES)
    .insertMany([sent('a', '08:59', true), sent('b', '09:00', true), sent('c', '10:00', false)]);
  const range = { from: at('00:00'), to: at('23:59') };
  const groups = await createLedgerEntries({ db, background: db }, max).allGroups(range);
  const known = { ...names, day: '2026-09-01', category: null, market: null, billable: null };
  expect(groups.sort((one, other) => other.messages - one.messages)).toEqual([
    { ...known, arrived: true, messages: 2 },
    { ...known, arrived: false, messages: 1 },
  ]);
});
