// Statuses of one message in one batch are one write. The record is the same as if each had arrived
// separately.
import fc from 'fast-check';
import { MESSAGE_STATUSES, type MessageStatus } from '@bmg/common/messages';
import { type ClosedMonths, createMessages } from './store';
import { MESSAGES, type MessageRecord } from './message-record';
import { raisingTogether, type StatusUpdate } from './status-writes';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { indexes } from '../collections';
import { testDatabase } from '../../../../test/testkit/database';

const SENT_AT = new Date(Date.UTC(NEXT_YEAR, 9, 20));
const NUMBER = { phone_number_id: '800' };
const OWN = { partner_id: 'ptn_1', waba_id: '900', recipient: '15550100777' };

const aRecord = (_id: string): MessageRecord => ({
  _id,
  ...OWN,
  ...NUMBER,
  message_id: `wamid.${_id}`,
  kind: 'text',
  status: 'accepted',
  sent_at: SENT_AT,
  updated_at: SENT_AT,
});

const aStatus = (
  _id: string,
  status: MessageStatus,
  over: Partial<StatusUpdate> = {},
): StatusUpdate => {
  const at = new Date(SENT_AT.getTime() + 1_000 * (1 + MESSAGE_STATUSES.indexOf(status)));
  return {
    ...NUMBER,
    message_id: `wamid.${_id}`,
    status,
    at,
    received_at: at,
    reconciled: false,
    rebuild: { _id, ...OWN },
    ...(status === 'delivered' && {
      charge: { pricing: { category: 'utility', billable: true, rank: 2 }, arrived: at } as never,
    }),
    ...over,
  };
};

const statusesOf = (_id: string, ...statuses: MessageStatus[]): StatusUpdate[] =>
  statuses.map((status) => aStatus(_id, status));

test('writes the statuses of a message that follow each other together', () => {
  const updates = [
    ...statusesOf('a', 'sent', 'delivered', 'read'),
    ...statusesOf('b', 'sent', 'delivered'),
  ];
  expect(raisingTogether(updates)).toHaveLength(2);
});

test.each<[string, StatusUpdate[]]>([
  ['a repeated status', statusesOf('a', 'sent', 'sent')],
  ['a lower status', statusesOf('a', 'read', 'delivered')],
  [
    'statuses of participants of a group',
    [aStatus('a', 'sent', { participant: '1' }), aStatus('a', 'delivered', { participant: '2' })],
  ],
  [
    'statuses that follow each other beside one that does not',
    statusesOf('a', 'sent', 'read', 'delivered'),
  ],
])('writes %s apart', (_name, updates) => {
  expect(raisingTogether(updates)).toHaveLength(updates.length);
});

describe('in the database', () => {
  const db = testDatabase(indexes);

  const recordsAfter = async (
    batches: StatusUpdate[][],
    given: { stored: boolean; closed_until: Date | undefined },
  ) => {
    await db.collection(MESSAGES).deleteMany({});
    const late: string[] = [];
    const closed: ClosedMonths = {
      end: async () => given.closed_until,
      addLate: async (found) => void late.push(...found.map(({ update }) => update.status)),
    };
    const messages = createMessages(db, 60_000, closed);
    if (given.stored) await Promise.all(['a', 'b'].map((id) => messages.record(aRecord(id))));
    for (const batch of batches) await messages.applyStatuses(batch);
    const records = await db.collection(MESSAGES).find().sort({ _id: 1 }).toArray();
    return { records, late };
  };

  const update = fc
    .tuple(fc.constantFrom('a', 'b'), fc.constantFrom(...MESSAGE_STATUSES))
    .map(([id, status]) => aStatus(id, status));
  const separately = (updates: StatusUpdate[]) => updates.map((one) => [one]);

  test('leaves the same records as one status at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(update, { maxLength: 2 }),
        fc.array(update, { minLength: 1, maxLength: 7 }),
        fc.boolean(),
        async (earlier, batch, stored) => {
          const given = { stored, closed_until: undefined };
          const apart = await recordsAfter(separately([...earlier, ...batch]), given);
          expect(await recordsAfter([...separately(earlier), batch], given)).toEqual(apart);
        },
      ),
      {
        numRuns: 25,
        examples: [
          [[], statusesOf('a', 'sent', 'sent', 'read', 'delivered'), true],
          [statusesOf('a', 'sent'), statusesOf('a', 'sent', 'read', 'delivered'), true],
        ],
      },
    );
  });

  test('books a price that arrives with other statuses after its month was closed', async () => {
    const all = statusesOf('a', 'sent', 'delivered', 'read');
    const closed_until = new Date(Date.UTC(NEXT_YEAR, 10, 1));
    const { records, late } = await recordsAfter([all], { stored: true, closed_until });
    expect(late).toEqual(['delivered']);
    const [record] = records;
    expect(record).toMatchObject({
      status: 'read',
      statuses: { sent: {}, delivered: {}, read: {} },
    });
    expect(record).not.toHaveProperty('pricing');
  });
});
