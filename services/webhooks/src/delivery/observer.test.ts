// What the metrics say of events that wait, and rows in the store that nobody in memory knows of.
import { createLogger, metrics } from '@bmg/common/telemetry';
import type { Entry } from './entry';
import type { Lanes } from './lanes';
import { createObserver } from './observer';
import type { Waiting } from '../store/deliveries';

const AGES_TICKS = 50;
const STORE_TICKS = 300;
const PAGE = 1_000;

const log = createLogger('test');
log.level = 'silent';

function rig(entries: Array<Partial<Entry>> = []) {
  const rows: Waiting[] = [];
  const added: string[] = [];
  const asked: Array<{ partitions: number[]; after: string; due: Date }> = [];
  const known = new Set<string>();
  const overflowing = new Set<string>();
  const state = { fails: false };
  const observer = createObserver({
    deliveries: {
      counts: async () => ({ retrying: 7, failed: 3 }),
      overdue: async (partitions: number[], due: Date, page: { after: string; limit: number }) => {
        asked.push({ partitions, after: page.after, due });
        if (state.fails) throw new Error('away');
        return rows.filter(({ _id }) => _id > page.after).slice(0, page.limit);
      },
    } as never,
    lanes: { values: () => entries, has: (id: string) => known.has(id) } as unknown as Lanes<Entry>,
    log,
    add: ({ _id }) => added.push(_id),
    overflows: (partner_id) => overflowing.has(partner_id),
  });
  const ticks = async (count: number): Promise<void> => {
    for (let tick = 0; tick < count; tick += 1) observer.tick([1, 2]);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { rows, added, asked, known, overflowing, state, ticks };
}

const waited = (partner_id: string, seconds: number, attempts = 0): Partial<Entry> => ({
  partner_id,
  attempts,
  arrived_at: Date.now() - seconds * 1_000,
});
const row = (_id: string, partner_id = 'ptn_1'): Waiting => ({ _id, partner_id }) as Waiting;

const unattempted = async (): Promise<Map<unknown, number>> =>
  new Map(
    (await metrics.oldest_unattempted.get()).values.map(({ labels, value }) => [
      labels.partner_id,
      value,
    ]),
  );
const valueOf = async (gauge: {
  get(): Promise<{ values: Array<{ value: number }> }>;
}): Promise<number> => (await gauge.get()).values[0]?.value ?? NaN;

describe('accepted but not attempted', () => {
  test('is the oldest of each partner; what was tried once counts as waiting only', async () => {
    const { ticks } = rig([
      waited('ptn_1', 10),
      waited('ptn_1', 90),
      waited('ptn_2', 5),
      waited('ptn_3', 500, 1),
    ]);
    await ticks(AGES_TICKS);
    const ages = await unattempted();
    expect([...ages.keys()].sort()).toEqual(['ptn_1', 'ptn_2']);
    expect(ages.get('ptn_1')).toBeCloseTo(90, 0);
    expect(ages.get('ptn_2')).toBeCloseTo(5, 0);
    expect(await valueOf(metrics.oldest_waiting)).toBeCloseTo(500, 0);
    expect(await valueOf(metrics.partners_waiting)).toBe(1);
  });

  test('shows the worst fifty partners, counts all, and forgets those that are through', async () => {
    const entries = Array.from({ length: 80 }, (_unused, at) => waited(`ptn_${at}`, 100 + at));
    const { ticks } = rig(entries);
    await ticks(AGES_TICKS);
    const ages = await unattempted();
    expect(ages.size).toBe(50);
    expect(ages.has('ptn_79')).toBe(true);
    expect(ages.has('ptn_29')).toBe(false);
    expect(await valueOf(metrics.partners_waiting)).toBe(80);
    entries.splice(0);
    await ticks(AGES_TICKS);
    expect((await unattempted()).size).toBe(0);
    expect(await valueOf(metrics.oldest_waiting)).toBe(0);
  });
});

describe('the store', () => {
  test('is looked through for what is long overdue; only what nobody has in memory is taken up', async () => {
    const { rows, added, asked, known, overflowing, ticks } = rig();
    rows.push(row('a'), row('b'), row('c', 'ptn_away'));
    known.add('b');
    overflowing.add('ptn_away');
    await ticks(STORE_TICKS);
    expect(added).toEqual(['a']);
    expect(asked).toMatchObject([{ partitions: [1, 2], after: '' }]);
    expect(Date.now() - Number(asked[0]?.due)).toBeGreaterThanOrEqual(30_000);
    const stored = (await metrics.deliveries_stored.get()).values;
    expect(stored.map(({ labels, value }) => [labels.status, value])).toEqual([
      ['retrying', 7],
      ['failed', 3],
    ]);
  });

  test('is looked through page by page, and from the start again', async () => {
    const { rows, added, asked, ticks } = rig();
    const ids = Array.from({ length: PAGE + 1 }, (_unused, at) => String(at).padStart(6, '0'));
    rows.push(...ids.map((id) => row(id)));
    for (let round = 0; round < 3; round += 1) await ticks(STORE_TICKS);
    expect(asked.map(({ after }) => after)).toEqual(['', ids[PAGE - 1], '']);
    expect(new Set(added).size).toBe(PAGE + 1);
  });

  test('that is away is looked through the next time', async () => {
    const { rows, added, state, ticks } = rig();
    rows.push(row('a'));
    state.fails = true;
    await ticks(STORE_TICKS);
    expect(added).toEqual([]);
    state.fails = false;
    await ticks(STORE_TICKS);
    expect(added).toEqual(['a']);
  });
});
