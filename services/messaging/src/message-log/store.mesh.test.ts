import { listMessages } from './list-messages';
import { indexes } from '../collections';
import { createMessageList, type MessageFilter } from './store';
import { MESSAGES, type MessageRecord } from '../messages/message-record';
import { createMessages } from '../messages/store';
import { aRecord } from '../../test/builders';
import { aCall } from '../../../../test/testkit/call';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { testDatabase } from '../../../../test/testkit/database';

const db = testDatabase(indexes);

const T0 = Date.UTC(NEXT_YEAR, 8, 1);
const recordAt = (index: number, over: Partial<MessageRecord> = {}): MessageRecord =>
  // Many of the same millisecond.
  aRecord(new Date(T0 + Math.floor(index / 10)), {
    _id: `msg_${String(index).padStart(4, '0')}`,
    waba_id: index % 2 ? '901' : '900',
    phone_number_id: index % 2 ? '801' : '800',
    message_id: `wamid.${index}`,
    kind: index % 3 ? 'text' : 'template',
    recipient: `155501${String(index % 7).padStart(5, '0')}`,
    status: index % 5 ? 'read' : 'failed',
    ...(index % 4 === 0 && { pricing: { category: 'utility' } }),
    ...over,
  });
const COUNT = 120;
const ALL = Array.from({ length: COUNT }, (_, index) => recordAt(index));

beforeAll(async () => {
  const messages = createMessages(db);
  await Promise.all(ALL.map((record) => messages.record(record)));
  await messages.record(recordAt(999, { partner_id: 'ptn_2' }));
});

const list = createMessageList(db);

async function readAll(filter: MessageFilter, waba_id?: string): Promise<string[]> {
  const found: string[] = [];
  let after: { sent_at: Date; _id: string } | undefined;
  do {
    const page = await list.page({ partner_id: 'ptn_1', waba_id }, filter, { after, limit: 7 });
    found.push(...page.messages.map(({ message_id }) => message_id));
    after = page.next;
  } while (after);
  return found;
}

const newestFirst = (wanted: (record: MessageRecord) => boolean): string[] =>
  ALL.filter(wanted)
    .reverse()
    .map(({ message_id }) => message_id);

const listed = (request: object) =>
  listMessages(
    {
      messageList: list,
      ledgerMonths: { list: async () => [] },
      rateCards: { prices: async () => undefined, pricesOf: async () => undefined },
    },
    { partner_id: 'ptn_1', limit: 10, ...request },
    aCall(),
  );

test('pages through all sends of a partner, newest first, each once', async () => {
  expect(await readAll({})).toEqual(newestFirst(() => true));
});

test.each<[string, MessageFilter, (record: MessageRecord) => boolean]>([
  ['recipient', { recipient: '15550100003' }, ({ recipient }) => recipient === '15550100003'],
  ['number', { phone_number_id: '801' }, (one) => one.phone_number_id === '801'],
  ['status', { status: 'failed' }, ({ status }) => status === 'failed'],
  ['kind', { kind: 'template' }, ({ kind }) => kind === 'template'],
  ['category', { category: 'utility' }, ({ pricing }) => pricing?.category === 'utility'],
  ['message_id', { message_id: 'wamid.17' }, ({ message_id }) => message_id === 'wamid.17'],
  [
    'time',
    { from: new Date(T0 + 3), to: new Date(T0 + 5) },
    ({ sent_at }) => sent_at.getTime() >= T0 + 3 && sent_at.getTime() <= T0 + 5,
  ],
  [
    'several at once',
    { status: 'read', kind: 'text', category: 'utility', to: new Date(T0 + 9) },
    ({ status, kind, pricing, sent_at }) =>
      status === 'read' && kind === 'text' && pricing !== undefined && sent_at.getTime() <= T0 + 9,
  ],
])('filters by %s', async (_name, filter, wanted) => {
  expect(await readAll(filter)).toEqual(newestFirst(wanted));
});

test('narrows down to one account', async () => {
  expect(await readAll({}, '901')).toEqual(newestFirst(({ waba_id }) => waba_id === '901'));
});

test('filters by recipient in either spelling of the number', async () => {
  const partner_id = 'ptn_spellings';
  const recipients = ['5511987650001', '551187650001', '551187650002'];
  const messages = createMessages(db);
  await Promise.all(
    recipients.map((recipient, index) =>
      messages.record(
        recordAt(index, { partner_id, recipient, _id: recipient, message_id: recipient }),
      ),
    ),
  );
  const filter = { recipient: '551187650001' };
  const page = await list.page({ partner_id }, filter, {
    after: undefined,
    limit: 7,
  });
  const found = page.messages.map(({ recipient }) => recipient).sort();
  expect(found).toEqual(['551187650001', '5511987650001']);
});

test('lists the messages of one broadcast, newest first, for its own partner', async () => {
  const of = (broadcast: number, index: number, over: Partial<MessageRecord> = {}) =>
    recordAt(index, {
      _id: `bc_${broadcast}_0_${index}_0123456789ab`,
      message_id: `wamid.bc.${broadcast}.${index}`,
      partner_id: 'ptn_3',
      ...over,
    });
  const messages = createMessages(db);
  const sent = [of(71, 1), of(71, 2), of(71, 30), of(711, 4), of(7, 5)];
  await Promise.all(sent.map((record) => messages.record(record)));
  await messages.record(of(71, 6, { partner_id: 'ptn_2' }));
  const page = (filter: MessageFilter, after?: { sent_at: Date; _id: string }) =>
    list.page(
      { partner_id: 'ptn_3' },
      { request_id_prefix: 'bc_71_', ...filter },
      { after, limit: 2 },
    );
  const first = await page({});
  expect(first.messages.map(({ message_id }) => message_id)).toEqual([
    'wamid.bc.71.30',
    'wamid.bc.71.2',
  ]);
  expect(first.searched).toBe(3);
  const second = await page({}, first.next);
  expect(second.messages.map(({ message_id }) => message_id)).toEqual(['wamid.bc.71.1']);
  expect(second.next).toBeUndefined();
  const failed = await page({ status: 'failed' });
  expect(failed.messages.map(({ message_id }) => message_id)).toEqual(['wamid.bc.71.30']);
});

test('finds a message only for its own partner and account', async () => {
  expect(await list.find({ partner_id: 'ptn_1' }, 'wamid.17')).toMatchObject({ _id: 'msg_0017' });
  expect(await list.find({ partner_id: 'ptn_1', waba_id: '900' }, 'wamid.17')).toBeNull();
  expect(await list.find({ partner_id: 'ptn_2' }, 'wamid.17')).toBeNull();
});

test.each([
  ['cursor', { cursor: 'bm90IGEgY3Vyc29y' }],
  ['recipient', { recipient: 'a name' }],
  ['status', { status: 'gone' }],
  ['from', { from: 'yesterday' }],
  ['to', { from: '2026-09-02T00:00:00Z', to: '2026-09-01T00:00:00Z' }],
])('refuses a bad %s and names it', async (field, bad) => {
  await expect(listed(bad)).rejects.toMatchObject({ code: 'INVALID_FIELD', details: { field } });
});

test('lowers a page size above the maximum', async () => {
  const { messages, after } = await listed({ limit: 100_000 });
  expect([messages.length, after]).toEqual([COUNT, undefined]);
});

test('reports how many records a search read, and none if an index covers the filter', async () => {
  const searched = async (filter: MessageFilter, waba_id?: string) =>
    (await list.page({ partner_id: 'ptn_1', waba_id }, filter, { after: undefined, limit: 7 }))
      .searched;
  const of_partner = (scope: object) =>
    db.collection(MESSAGES).countDocuments({ partner_id: 'ptn_1', ...scope });
  expect(await searched({ status: 'failed' })).toBe(await of_partner({}));
  expect(await searched({ status: 'failed' }, '900')).toBe(await of_partner({ waba_id: '900' }));
  expect(await searched({ kind: 'no such kind' })).toBe(await of_partner({}));
  expect(await searched({})).toBeUndefined();
  expect(await searched({ status: 'failed', recipient: '15550100003' })).toBeUndefined();
});
