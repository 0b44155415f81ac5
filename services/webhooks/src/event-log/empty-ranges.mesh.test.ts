// A filter that matches nothing reads each bucket once.
import { testDatabase } from '../../../../test/testkit/database';
import { appendBucket, packer } from '../../test/builders';
import { createReader, OPENED_BYTES_MAX, type Query } from './reader';
import { createEventLogStore, type Bucket, type EventLogStore, type Match } from './store/buckets';
import { indexes } from '../collections';

const ROOM = { reserve: async () => undefined, took: () => undefined };
const db = testDatabase(indexes);

const EVENTS_OF_BUCKET = 4;

const append = (
  partner_id: string,
  first: number,
  content: { event?: string; envelope?: string } = {},
): Promise<string[]> =>
  appendBucket(db, partner_id, { first, count: EVENTS_OF_BUCKET, ...content });
/** Appends five buckets, 20 events, to an empty log. */
async function appendFive(partner_id: string, envelope = '{}'): Promise<void> {
  for (let at = 0; at < 5; at += 1)
    await append(partner_id, 1 + at * EVENTS_OF_BUCKET, { envelope });
}

/** A reader, with the number of buckets that it has read. */
function aReader() {
  const store = createEventLogStore(db);
  const seen = { buckets: 0, cost: 0 };
  const counting: EventLogStore = {
    ...store,
    async *buckets(partner_id, range, match) {
      // The database reads every bucket of the range to apply the filter.
      for await (const bucket of store.buckets(partner_id, range, {})) {
        seen.buckets += 1;
        if (passes(match, bucket)) yield bucket;
      }
    },
  };
  const reader = createReader({
    store: counting,
    attempts: { of: async () => ({ of_event: new Map(), batches: 0 }) } as never,
    deliveries: { findEach: async () => new Map() },
    packer,
    kept_ms: 86_400_000,
  });
  const room = { ...ROOM, took: (_bytes: number, cost = 0) => void (seen.cost += cost) };
  const page = async (partner_id: string, query: Partial<Query> = {}) => {
    const { events, next } = await reader.page(
      {
        partner_id,
        after: undefined,
        limit: 100,
        max_bytes: undefined,
        from: undefined,
        to: undefined,
        ...query,
      },
      room,
    );
    return { found: events.map(({ seq }) => seq), next };
  };
  return { page, seen };
}

const passes = ({ events, waba_id }: Match, bucket: Bucket): boolean =>
  bucket.events.some(
    (one) =>
      (!events || events.includes(one.event)) && (waba_id === undefined || one.waba_id === waba_id),
  );

const REJECTED = { events: ['template.rejected'] };

test('a filter that matches nothing reads each bucket once, however often it is repeated', async () => {
  await appendFive('ptn_1');
  const { page, seen } = aReader();
  for (let count = 0; count < 10; count += 1) {
    expect(await page('ptn_1', REJECTED)).toEqual({ found: [], next: 20 });
    expect(await page('ptn_1', { ...REJECTED, after: 7 })).toEqual({ found: [], next: 20 });
  }
  expect(seen.buckets).toBe(5);
  await append('ptn_1', 21);
  expect(await page('ptn_1', REJECTED)).toEqual({ found: [], next: 24 });
  expect(seen.buckets).toBe(6);
  await append('ptn_1', 25, { event: 'template.rejected' });
  expect(await page('ptn_1', REJECTED)).toEqual({ found: [25, 26, 27, 28], next: 28 });
  expect(seen.buckets).toBe(7);
});

test('an empty result of one filter, account or partner does not affect another', async () => {
  for (const partner_id of ['ptn_2', 'ptn_3']) await append(partner_id, 1);
  const { page } = aReader();
  expect((await page('ptn_2', REJECTED)).found).toEqual([]);
  expect((await page('ptn_2', { waba_id: '901' })).found).toEqual([]);
  const all = [1, 2, 3, 4];
  expect((await page('ptn_2')).found).toEqual(all);
  expect((await page('ptn_2', { waba_id: '900' })).found).toEqual(all);
  expect((await page('ptn_2', { events: ['message.received'] })).found).toEqual(all);
  expect((await page('ptn_2', { events: ['message.received', ...REJECTED.events] })).found).toEqual(
    all,
  );
  expect((await page('ptn_3', { events: ['message.received'] })).found).toEqual(all);
});

test('a search with a filter costs more than a read, and nothing in a range that is known to be empty', async () => {
  await appendFive('ptn_4');
  const { page, seen } = aReader();
  await page('ptn_4', REJECTED);
  const first = seen.cost;
  await page('ptn_4', REJECTED);
  expect([first, seen.cost - first]).toEqual([20 * 256, 0]);
});

const fromContact = (contact: string, text = ''): string =>
  JSON.stringify({ event: 'message.received', data: { from: contact, text } });

test('a contact that is not in the log is searched for once, and its search costs what it unpacks', async () => {
  const envelope = fromContact('15550100777');
  await appendFive('ptn_5', envelope);
  const { page, seen } = aReader();
  for (let count = 0; count < 3; count += 1) {
    expect(await page('ptn_5', { contact: '15550100778' })).toEqual({ found: [], next: 20 });
  }
  expect([seen.buckets, seen.cost]).toEqual([5, 20 * (256 + envelope.length)]);
  expect(await page('ptn_5', { contact: '15550100777', limit: 2 })).toEqual({
    found: [1, 2],
    next: 2,
  });
});

test('a page that is filtered by contact unpacks a bounded part of the log, and goes on behind it', async () => {
  const large = fromContact('15550100777', 'x'.repeat(OPENED_BYTES_MAX / EVENTS_OF_BUCKET / 2));
  for (const first of [1, 5, 9]) await append('ptn_6', first, { envelope: large });
  await append('ptn_6', 13, { envelope: fromContact('15550100778') });
  const { page, seen } = aReader();
  const first = await page('ptn_6', { contact: '15550100778' });
  expect(first).toEqual({ found: [], next: 8 });
  expect(seen.buckets).toBe(2);
  expect(await page('ptn_6', { contact: '15550100778', after: first.next })).toEqual({
    found: [13, 14, 15, 16],
    next: 16,
  });
});
