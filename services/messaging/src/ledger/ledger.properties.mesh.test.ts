// Properties of the ledger against a real database: totals equal the sum of the entries, a closed
// month never changes, the order of statuses is irrelevant, and partners see only their own
// messages.
import Big from 'big.js';
import fc from 'fast-check';
import { newId } from '@bmg/common/ids';
import { createByteRate, createPool } from '@bmg/common/overload';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { MessageStatus } from '@bmg/common/messages';
import { createContacts, createConversations } from '../contacts/store';
import { indexes } from '../collections';
import { createLedgerDays, createLedgerMonths } from './store/months';
import { createLedgerEntries } from './store/entries';
import { createLateEntries } from './store/late';
import type { MessageRecord } from '../messages/message-record';
import { createMessages } from '../messages/store';
import type { StatusUpdate } from '../messages/status-writes';
import { createRateCards } from '../rates/store';
import type { ChangedTemplate } from './category-lookup';
import { factsOf } from '../pricing/charge';
import { closeMonth, storeTotals } from './closing';
import type { LedgerDependencies } from './describe';
import type { Entry } from './entry';
import { addLate } from './late';
import { EXPORT_BYTES_PER_S, exportLedger, getLedger } from './read-ledger';
import { raiseSpendAlerts } from './spend-alerts';
import type { Total, Totals } from './totals';
import { aRateCard, aRecord, aStatus, SCOPE } from '../../test/builders';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { emptyDatabase, testDatabase } from '../../../../test/testkit/database';

const call = { deadline: Date.now() + 600_000 } as Call;
const log = { warn: jest.fn(), info: jest.fn(), error: jest.fn() } as unknown as Logger;
const PARTNERS = ['ptn_1', 'ptn_2'];
const RECIPIENTS = ['4915112345678', '15550100777', '3545811234', 'BR.4Qm7Zr81Kd02'];

const card = (price: string) =>
  aRateCard(
    ...['Germany', 'North America', 'Other'].flatMap((market, index) => [
      `${market},marketing,,${NEXT_YEAR}-07-01,${index}${price}`,
      `${market},utility,,${NEXT_YEAR}-07-01,0.05${index}1`,
      `${market},utility,,${NEXT_YEAR}-10-15,0.049${index}`,
      `${market},marketing,,${NEXT_YEAR}-10-15,0.1${index}`,
    ]),
  );

const db = testDatabase(indexes);
let now = new Date();
let changed: ChangedTemplate[] = [];
let deps: ReturnType<typeof open>;

function open() {
  const rateCards = createRateCards(db);
  const lateEntries = createLateEntries(db);
  const ledgerMonths = createLedgerMonths(db);
  const clock = () => now;
  return {
    rateCards,
    lateEntries,
    ledgerMonths,
    ledgerEntries: createLedgerEntries({ db, background: db }),
    ledgerDays: createLedgerDays(db),
    contacts: createContacts(db),
    conversations: createConversations(db),
    messages: createMessages(db, 0, {
      end: () => ledgerMonths.end(),
      addLate: addLate({ lateEntries, rateCards, now: clock }),
    }),
    categories: {
      find: async () => new Map(changed.map((one) => [`${one.name}/${one.language}`, one])),
      changed: async () => changed,
    },
    ledgerReads: createPool({ server: 'ledger', reason: 'reads', holder: 'partner', max: 16 }, log),
    exportRate: createByteRate(EXPORT_BYTES_PER_S),
    close_days: 7,
    now: clock,
    log,
  };
}

beforeEach(async () => {
  now = new Date(`${NEXT_YEAR}-10-20T12:00:00Z`);
  changed = [];
  deps = open();
});
afterEach(() => emptyDatabase(db));

interface Told {
  status: MessageStatus;
  category: string | undefined;
  billable: boolean | undefined;
}
interface Sent {
  partner: string;
  number: string;
  recipient: string;
  day: number;
  statuses: Told[];
}

const told = (status: MessageStatus): fc.Arbitrary<Told> =>
  fc.record({
    status: fc.constant(status),
    category: fc.constantFrom('marketing', 'utility', 'service', undefined),
    billable: fc.constantFrom(true, true, false, undefined),
  });
const sent = (days: { min: number; max: number }): fc.Arbitrary<Sent> =>
  fc.record({
    partner: fc.constantFrom(...PARTNERS),
    number: fc.constantFrom('800000000000001', '800000000000002'),
    recipient: fc.constantFrom(...RECIPIENTS),
    day: fc.integer(days),
    statuses: fc
      .tuple(told('sent'), told('delivered'), told('read'), fc.constant(failed))
      .chain((all) => fc.shuffledSubarray(all)),
  });
const failed: Told = { status: 'failed', category: undefined, billable: undefined };

/** Day 1 is the first of September. */
const aMessage = (day: number, partner = 'ptn_1'): Sent => ({
  partner,
  number: '8',
  recipient: '15550100777',
  day,
  statuses: [],
});
const sentAt = ({ day }: Sent): Date => new Date(Date.UTC(NEXT_YEAR, 8, day, 10));
const recordOf = (message: Sent, _id: string): MessageRecord =>
  aRecord(sentAt(message), {
    _id,
    partner_id: message.partner,
    phone_number_id: message.number,
    kind: 'template',
    template: { name: 'order_update', language: 'en_US' },
    recipient: message.recipient,
  });
const updateOf = (record: MessageRecord, { status, category, billable }: Told): StatusUpdate => {
  const { _id, partner_id, waba_id, recipient } = record;
  const at = new Date(record.sent_at.getTime() + 5_000);
  return aStatus(record, status, {
    at,
    received_at: now,
    charge: factsOf({
      status,
      timestamp: at.getTime() / 1_000,
      recipient,
      pricing_category: category,
      pricing_billable: billable,
    }),
    rebuild: { _id, partner_id, waba_id, recipient },
  });
};

const delivered = (record: MessageRecord, category = 'marketing'): StatusUpdate =>
  updateOf(record, { status: 'delivered', category, billable: true });

async function send(messages: Sent[]): Promise<MessageRecord[]> {
  const records = messages.map((message) => recordOf(message, newId('msg')));
  await Promise.all(records.map((record) => deps.messages.record(structuredClone(record))));
  return records;
}

type Page = {
  entries: Entry[];
  next: string | null;
  totals: Totals;
  months: object[];
  category_changes: object[];
};
const page = async (partner_id: string, more: object = {}, of: LedgerDependencies = deps) =>
  (await getLedger(of, { partner_id, limit: 7, ...more }, call)).fields as unknown as Page;

async function csvChunks(more: object, of: LedgerDependencies = deps): Promise<string[]> {
  const chunks: string[] = [];
  for await (const { data } of exportLedger(of, { partner_id: 'ptn_1', ...more }, call)) {
    chunks.push(Buffer.from(data).toString());
  }
  return chunks;
}

async function readAll(partner_id: string, period: object) {
  const first = await page(partner_id, period);
  const entries = [...first.entries];
  for (let { next } = first; next !== null;) {
    const further = await page(partner_id, { after: next });
    entries.push(...further.entries);
    next = further.next;
  }
  return { entries, totals: first.totals };
}

function addUp(entries: Entry[]): Omit<Total, 'charged'> {
  const amounts = new Map<string, Big>();
  for (const { currency, amount } of entries) {
    if (currency === null || amount === null) continue;
    amounts.set(currency, (amounts.get(currency) ?? new Big(0)).plus(amount));
  }
  return {
    messages: entries.filter(({ late_month }) => late_month === null).length,
    late: entries.filter(({ late_month }) => late_month !== null).length,
    unpriced: entries.filter(({ amount }) => amount === null).length,
    amounts: [...amounts].map(([currency, sum]) => ({ currency, amount: sum.toFixed() })),
  };
}

function expectTotals({ entries, totals }: { entries: Entry[]; totals: Totals }): void {
  const { charged: _charged, by_number, by_category, by_market, by_day, ...whole } = totals;
  expect(whole).toEqual(addUp(entries));
  const dayOf = (one: Entry): string => (one.late_at ?? one.sent_at).slice(0, 10);
  const parts: Array<[Array<[unknown, Total]>, (one: Entry) => unknown]> = [
    [
      by_number.map(({ phone_number_id, ...row }) => [phone_number_id, row]),
      (one) => one.phone_number_id,
    ],
    [by_category.map(({ category, ...row }) => [category, row]), (one) => one.category],
    [by_market.map(({ market, ...row }) => [market, row]), (one) => one.market],
    [by_day.map(({ day, ...row }) => [day, row]), dayOf],
  ];
  for (const [rows, key] of parts) {
    for (const [value, { charged: _c, ...row }] of rows) {
      const own = entries.filter((one) => key(one) === value);
      expect([value, row]).toEqual([value, addUp(own)]);
    }
    expect(rows.reduce((sum, [, row]) => sum + row.messages, 0)).toBe(totals.messages);
    expect(rows.reduce((sum, [, row]) => sum + row.charged, 0)).toBe(totals.charged);
  }
}

const SEPTEMBER = { from: `${NEXT_YEAR}-09-01`, to: `${NEXT_YEAR}-09-30` };
const OCTOBER = { from: `${NEXT_YEAR}-10-01`, to: `${NEXT_YEAR}-10-31` };

test('totals equal the sum of the entries, in any order of statuses, for the own partner only', async () => {
  await deps.rateCards.replace(card('.1365'), now);
  await fc.assert(
    fc.asyncProperty(fc.array(sent({ min: 31, max: 49 }), { maxLength: 25 }), async (messages) => {
      await db.collection('messages').deleteMany({});
      const records = await send(messages);
      const updates = messages.flatMap(({ statuses }, index) =>
        statuses.map((one) => updateOf(records[index] as MessageRecord, one)),
      );
      await deps.messages.applyStatuses(updates);
      const before = await Promise.all(PARTNERS.map((id) => readAll(id, OCTOBER)));
      before.forEach(expectTotals);
      before.forEach(({ entries }, index) => {
        const own = records.filter(({ partner_id }) => partner_id === PARTNERS[index]);
        expect(entries.map(({ message_id }) => message_id).sort()).toEqual(
          own.map(({ message_id }) => message_id).sort(),
        );
      });
      // The same statuses in the opposite order, one at a time, give the same figures.
      await db.collection('messages').deleteMany({});
      await Promise.all(records.map((record) => deps.messages.record(structuredClone(record))));
      for (const update of [...updates].reverse()) await deps.messages.applyStatuses([update]);
      for (const [index, partner] of PARTNERS.entries()) {
        expect((await readAll(partner, OCTOBER)).totals).toEqual(before[index]?.totals);
      }
    }),
    { numRuns: 12 },
  );
});

async function close(month: string): Promise<void> {
  await closeMonth(deps, month);
  for (const { _id } of await deps.ledgerMonths.list()) {
    await storeTotals(deps, _id);
    await deps.ledgerMonths.finish(_id, now);
  }
}

test('a closed month never changes; late statuses count in the month in which they arrive', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(sent({ min: 1, max: 30 }), fc.nat({ max: 3 })), {
        minLength: 1,
        maxLength: 20,
      }),
      async (given) => {
        await emptyDatabase(db);
        deps = open();
        now = new Date(`${NEXT_YEAR}-10-02T12:00:00Z`);
        await deps.rateCards.replace(card('.1365'), now);
        const records = await send(given.map(([message]) => message));
        const updates = given.map(([{ statuses }], index) =>
          statuses.map((one) => updateOf(records[index] as MessageRecord, one)),
        );
        const early = updates.flatMap((all, index) => all.slice(0, given[index]?.[1]));
        const late = updates.flatMap((all, index) => all.slice(given[index]?.[1]));
        await deps.messages.applyStatuses(early);
        await close(`${NEXT_YEAR}-09`);
        const closed = await Promise.all(PARTNERS.map((id) => readAll(id, SEPTEMBER)));
        closed.forEach(expectTotals);

        now = new Date(`${NEXT_YEAR}-10-20T12:00:00Z`);
        await deps.rateCards.replace(card('.9'), now);
        await deps.messages.applyStatuses(late);
        // Kafka redelivers a batch.
        await deps.messages.applyStatuses([...late, ...early]);
        for (const [index, partner] of PARTNERS.entries()) {
          const figures = await readAll(partner, SEPTEMBER);
          expect(figures.totals).toEqual(closed[index]?.totals);
          expect(figures.entries.map(figuresOf)).toEqual(closed[index]?.entries.map(figuresOf));
          const october = await readAll(partner, OCTOBER);
          expectTotals(october);
          expect(october.totals.messages).toBe(0);
        }
        now = new Date(`${NEXT_YEAR}-11-02T12:00:00Z`);
        const october = await Promise.all(PARTNERS.map((id) => readAll(id, OCTOBER)));
        await close(`${NEXT_YEAR}-10`);
        expect(await Promise.all(PARTNERS.map((id) => readAll(id, OCTOBER)))).toEqual(october);
        // Both months together charge each message as if nothing had been late.
        const all = await Promise.all(
          PARTNERS.flatMap((id) => [readAll(id, SEPTEMBER), readAll(id, OCTOBER)]),
        );
        const charged = all.reduce((sum, { totals }) => sum + totals.charged, 0);
        const facts = await db.collection<MessageRecord>('messages').find().toArray();
        expect(facts).toHaveLength(records.length);
        expect(charged).toBe(updates.filter((all) => isCharged(all)).length);
      },
    ),
    { numRuns: 12 },
  );
});

/** The status of a message may rise, and its conversation be forgotten; its cost stays. */
const figuresOf = ({ status: _status, check_billable: _check, ...entry }: Entry): object => entry;

/** Delivered or read, and billable by the highest status that is priced. */
function isCharged(updates: StatusUpdate[]): boolean {
  const priced = updates
    .flatMap(({ charge }) => charge?.pricing ?? [])
    .sort((one, other) => (other.rank ?? 0) - (one.rank ?? 0));
  return priced[0]?.billable === true && updates.some(({ charge }) => charge?.arrived);
}

test('a message whose record is missing from a closed month is entered when its status arrives', async () => {
  await close(`${NEXT_YEAR}-09`);
  await deps.messages.applyStatuses([delivered(recordOf(aMessage(30), newId('msg')), 'utility')]);
  expect((await readAll('ptn_1', SEPTEMBER)).entries).toEqual([]);
  const { entries, totals } = await readAll('ptn_1', OCTOBER);
  expect(entries).toMatchObject([
    { kind: 'unknown', late_month: `${NEXT_YEAR}-09`, charged: true },
  ]);
  expect(totals).toMatchObject({ charged: 1 });
});

test('marks changed categories, and messages billed although the pre-flight predicted none', async () => {
  await deps.rateCards.replace(card('.1365'), now);
  const since = `${NEXT_YEAR}-10-05T00:00:00.000Z`;
  const template = { name: 'order_update', language: 'en_US' };
  changed = [{ ...template, first_category: 'utility', category: 'marketing', since }];
  const [record] = (await send([aMessage(49)])) as [MessageRecord];
  const note = {
    waba_id: SCOPE.waba_id,
    phone_number_id: '8',
    contact: '15550100777',
    at: new Date(record.sent_at.getTime() - 60_000),
    kind: 'entry' as const,
  };
  await deps.contacts.apply([{ note }]);
  await deps.messages.applyStatuses([delivered(record)]);
  const { entries, category_changes } = await page('ptn_1', OCTOBER);
  expect(entries).toMatchObject([
    {
      category_asked: 'utility',
      category: 'marketing',
      category_changed: true,
      category_changed_since: since,
      market: 'North America',
      unit_price: '0.11',
      amount: '0.11',
      check_billable: false,
      billable_unlike_check: true,
    },
  ]);
  expect(category_changes).toMatchObject([
    {
      template_name: 'order_update',
      category_asked: 'utility',
      category: 'marketing',
      unit_prices: [{ market: 'North America', asked: '0.0491', now: '0.11' }],
    },
  ]);
});

test('adds up the messages of one broadcast, also in a closed month, with its late entries', async () => {
  const started_at = new Date(`${NEXT_YEAR}-09-28T09:00:00Z`);
  const broadcasts = {
    findBroadcast: async ({ broadcast_id }: { broadcast_id: number }) => ({
      request_id_prefix: `bc_${broadcast_id}_`,
      started_at,
    }),
  };
  const of = { ...deps, broadcasts };
  const read = (more: object): Promise<Page> => page('ptn_1', more, of);
  await deps.rateCards.replace(card('.1365'), now);
  const [early, later, october] = [28, 29, 32].map((day, at) =>
    recordOf(aMessage(day), `bc_71_0_${at}_0123456789ab`),
  ) as [MessageRecord, MessageRecord, MessageRecord];
  const other = recordOf(aMessage(29), 'bc_711_0_0_0123456789ab');
  const foreign = recordOf(aMessage(29, 'ptn_2'), 'bc_71_0_3_0123456789ab');
  for (const record of [early, later, october, other, foreign]) {
    await deps.messages.record(structuredClone(record));
  }
  await deps.messages.applyStatuses([early, october, other].map((one) => delivered(one)));
  const open = await read({ broadcast_id: 71 });
  expect(open).toMatchObject({ period: { from: `${NEXT_YEAR}-09-28`, to: `${NEXT_YEAR}-10-20` } });
  expect(open.totals).toMatchObject({
    messages: 3,
    charged: 2,
    by_category: [
      { category: null, messages: 1 },
      { category: 'marketing', messages: 2, amounts: [{ currency: 'USD', amount: '2.273' }] },
    ],
    by_market: [{ market: null }, { market: 'North America', charged: 2 }],
  });
  expectTotals(open);
  await close(`${NEXT_YEAR}-09`);
  expect((await read({ broadcast_id: 71 })).totals).toEqual(open.totals);
  await deps.messages.applyStatuses([delivered(later)]);
  const late = await read({ broadcast_id: 71 });
  expect(late.totals).toMatchObject({ messages: 3, late: 1, charged: 3 });
  expectTotals(late);
  expect((await read({ broadcast_id: 71, from: `${NEXT_YEAR}-10-01` })).totals).toMatchObject({
    messages: 1,
    late: 1,
  });
  const csv = await csvChunks({ broadcast_id: 71 }, of);
  expect(csv.join('').trimEnd().split('\r\n')).toHaveLength(1 + 3 + 1);
  now = new Date(`${NEXT_YEAR + 1}-01-20T12:00:00Z`);
  for (const [more, field] of [
    [{}, 'broadcast_id'],
    [{ from: `${NEXT_YEAR}-09-28`, to: `${NEXT_YEAR}-09-29` }, 'from'],
  ] as const) {
    await expect(read({ broadcast_id: 71, ...more })).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field },
    });
  }
  await expect(page('ptn_1', { broadcast_id: 71 })).rejects.toMatchObject({
    code: 'NOT_CONFIGURED',
  });
});

test('refuses a read beyond the share of the partner, until an export has ended', async () => {
  const open = Array.from({ length: 8 }, () =>
    exportLedger(deps, { partner_id: 'ptn_1', ...OCTOBER }, call),
  );
  for (const one of open) await one.next();
  const refusal = { code: 'RATE_LIMIT_EXCEEDED', retry_after_s: 1 };
  await expect(page('ptn_1')).rejects.toMatchObject(refusal);
  const further = exportLedger(deps, { partner_id: 'ptn_1', ...OCTOBER }, call);
  await expect(further.next()).rejects.toMatchObject(refusal);
  await page('ptn_2');
  for (const one of open) await one.return(undefined);
  await page('ptn_1');
});

test('refuses a wrong period, cursor or month, and names the field', async () => {
  const refused: Array<[object, string]> = [
    [{ from: `${NEXT_YEAR}-02-30` }, 'from'],
    [{ to: 'today' }, 'to'],
    [{ from: `${NEXT_YEAR}-10-02`, to: `${NEXT_YEAR}-10-01` }, 'from'],
    [{ from: `${NEXT_YEAR}-08-01`, to: `${NEXT_YEAR}-10-01` }, 'from'],
    [{ from: '2020-01-01', to: '2020-01-02' }, 'from'],
    [{ after: 'x' }, 'after'],
    [{ after: Buffer.from('[1,2,3,4,5]').toString('base64url') }, 'after'],
  ];
  for (const [more, field] of refused) {
    await expect(page('ptn_1', more)).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field },
    });
  }
  for (const month of [`${NEXT_YEAR}-13`, `${NEXT_YEAR}-10`, 'x']) {
    await expect(closeMonth(deps, month)).rejects.toMatchObject({ details: { field: 'month' } });
  }
  await close(`${NEXT_YEAR}-09`);
  await expect(closeMonth(deps, `${NEXT_YEAR}-08`)).rejects.toThrow('closed already');
  expect(await deps.ledgerMonths.list()).toHaveLength(4);
});

test('exports every entry as CSV, in bounded chunks', async () => {
  await deps.rateCards.replace(card('.1365'), now);
  const records = Array.from({ length: 1_200 }, () => recordOf(aMessage(40), newId('msg')));
  await db.collection<MessageRecord>('messages').insertMany(records);
  const cards = jest.spyOn(deps.rateCards, 'prices');
  const chunks = await csvChunks(OCTOBER);
  expect(chunks).toHaveLength(4);
  // Not called once per row.
  expect(cards).toHaveBeenCalledTimes(1);
  const lines = chunks.join('').trimEnd().split('\r\n');
  expect(lines).toHaveLength(1_201);
  expect(lines[0]).toMatch(/^message_id,waba_id,/);
});

test('reports a partner that has spent the threshold of its alert today', async () => {
  await deps.rateCards.replace(card('.1365'), now);
  const records = await send([aMessage(50), aMessage(50)]);
  await deps.messages.applyStatuses(records.map((record) => delivered(record)));
  const raised: unknown[] = [];
  const report = async (threshold: string): Promise<void> =>
    raiseSpendAlerts({
      ...deps,
      alerts: {
        listWatchers: async () => ({ watchers: [{ partner_id: 'ptn_1', threshold }] }),
        raiseAlert: async (alert) => (raised.push(alert), {}),
      },
    });
  await report('0.2200000001');
  expect(raised).toEqual([]);
  await report('0.22');
  expect(raised).toEqual([
    {
      partner_id: 'ptn_1',
      cause: 'spend_per_day',
      day: `${NEXT_YEAR}-10-20`,
      value: '0.22',
      currency: 'USD',
    },
  ]);
});
