// Statuses of one message in one batch are one write. The record is the same as if each had arrived
// separately.
import fc from 'fast-check';
import { MESSAGE_STATUSES, type MessageStatus } from '@bmg/common/messages';
import { type ClosedMonths, createMessages } from './store';
import { MESSAGES, type MessageRecord } from './message-record';
import { PARTICIPANT_STATUSES_MAX, raisingTogether, type StatusUpdate } from './status-writes';
import { aRecord, aStatus } from '../../test/builders';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { indexes } from '../collections';
import { testDatabase } from '../../../../test/testkit/database';

const SENT_AT = new Date(Date.UTC(NEXT_YEAR, 9, 20));
const recordOf = (_id: string): MessageRecord => aRecord(SENT_AT, { _id });

const statusOf = (
  record: MessageRecord,
  status: MessageStatus,
  over: Partial<StatusUpdate> = {},
): StatusUpdate => {
  const at = new Date(SENT_AT.getTime() + 1_000 * (1 + MESSAGE_STATUSES.indexOf(status)));
  const { _id, partner_id, waba_id, recipient } = record;
  return aStatus(record, status, {
    at,
    received_at: at,
    rebuild: { _id, partner_id, waba_id, recipient },
    ...(status === 'delivered' && {
      charge: { pricing: { category: 'utility', billable: true, rank: 2 }, arrived: true },
    }),
    ...over,
  });
};

const statusesOf = (_id: string, ...statuses: MessageStatus[]): StatusUpdate[] =>
  statuses.map((status) => statusOf(recordOf(_id), status));

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
    [
      statusOf(recordOf('a'), 'sent', { participant: '1' }),
      statusOf(recordOf('a'), 'delivered', { participant: '2' }),
    ],
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
    if (given.stored) await Promise.all(['a', 'b'].map((id) => messages.record(recordOf(id))));
    for (const batch of batches) await messages.applyStatuses(batch);
    const records = await db.collection(MESSAGES).find().sort({ _id: 1 }).toArray();
    return { records, late };
  };

  const update = fc
    .tuple(fc.constantFrom('a', 'b'), fc.constantFrom(...MESSAGE_STATUSES))
    .map(([id, status]) => statusOf(recordOf(id), status));
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

  test('keeps each status of each participant of a group once, up to a bound', async () => {
    const messages = createMessages(db);
    const group = recordOf('group');
    await messages.record(group);
    const stored = () => db.collection<MessageRecord>(MESSAGES).findOne({ _id: 'group' });
    const all = ['15550100777', 'US.8Bo', '15550100779'].flatMap((participant) =>
      (['delivered', 'read'] as const).map((status) => aStatus(group, status, { participant })),
    );
    // The upstream repeats itself, in one webhook and in further ones.
    await messages.applyStatuses([...all, ...all]);
    for (const one of all) await messages.applyStatuses([one]);
    const record = await stored();
    expect(record).toMatchObject({ status: 'read' });
    const kept = [
      ...Object.entries(record?.statuses ?? {}).map(([status, one]) => ({ ...one, status })),
      ...(record?.participants ?? []),
    ];
    const named = (list: Array<{ participant?: string | undefined; status: string }>) =>
      list.map(({ participant, status }) => `${participant} ${status}`).sort();
    expect(named(kept)).toEqual(named(all));
    await messages.applyStatuses(
      Array.from({ length: 2 * PARTICIPANT_STATUSES_MAX }, (_one, index) =>
        aStatus(group, 'delivered', { participant: String(index) }),
      ),
    );
    expect((await stored())?.participants).toHaveLength(PARTICIPANT_STATUSES_MAX);
  });

  test('marks a status that arrives after a higher one, and keeps the state', async () => {
    const messages = createMessages(db);
    const late = recordOf('late');
    await messages.record(late);
    const at = (second: number) => new Date(SENT_AT.getTime() + second * 1_000);
    for (const [second, status] of (['sent', 'read', 'delivered', 'sent'] as const).entries()) {
      await messages.applyStatuses([aStatus(late, status, { received_at: at(second) })]);
    }
    const record = await db.collection<MessageRecord>(MESSAGES).findOne({ _id: 'late' });
    const known = { at: SENT_AT };
    expect(record).toMatchObject({ status: 'read' });
    // The first one of each kind counts.
    expect(record?.statuses).toEqual({
      sent: { ...known, received_at: at(0) },
      delivered: { ...known, received_at: at(2), superseded: true },
      read: { ...known, received_at: at(1) },
    });
  });
});
