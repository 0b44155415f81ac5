import { createLogger, metrics } from '@bmg/common/telemetry';
import type { Lanes } from './lanes';
import { createObserver } from './observer';
import type { TrackedDelivery } from './tracked-delivery';
import type { Overdue, WaitingDelivery } from './store';

const METRICS_TICKS = 50;
const SCAN_TICKS = 300;
const PAGE = 1_000;

const log = createLogger('test');

function rig(tracked: Array<Partial<TrackedDelivery>> = []) {
  const rows: WaitingDelivery[] = [];
  const added: string[] = [];
  const asked: Array<{ partitions: number[]; after: string | undefined; due: Date }> = [];
  const known = new Set<string>();
  const overflowing = new Set<string>();
  const state = { fails: false };
  const observer = createObserver({
    deliveries: {
      counts: async () => ({ retrying: 7, failed: 3 }),
      overdue: async (
        partitions: number[],
        due: Date,
        page: { after: Overdue | undefined; limit: number },
      ) => {
        asked.push({ partitions, after: page.after?._id, due });
        if (state.fails) throw new Error('away');
        return rows.filter(({ _id }) => _id > (page.after?._id ?? '')).slice(0, page.limit);
      },
    } as never,
    lanes: {
      values: () => tracked,
      get: (id: string) => (known.has(id) ? {} : undefined),
    } as unknown as Lanes<TrackedDelivery>,
    log,
    trackRow: ({ _id }) => added.push(_id),
    overflows: (partner_id) => overflowing.has(partner_id),
  });
  const ticks = async (count: number, partitions = [1, 2]): Promise<void> => {
    for (let tick = 0; tick < count; tick += 1) observer.tick(partitions, 1);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { rows, added, asked, known, overflowing, state, ticks };
}

const waited = (partner_id: string, seconds: number, attempts = 0): Partial<TrackedDelivery> => ({
  partner_id,
  attempts,
  arrived_at: Date.now() - seconds * 1_000,
});
const row = (_id: string, partner_id = 'ptn_1'): WaitingDelivery =>
  ({ _id, partner_id }) as WaitingDelivery;

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

describe('the backlog metrics', () => {
  test('show the oldest unattempted delivery of each partner, and the oldest of all', async () => {
    const { ticks } = rig([
      waited('ptn_1', 10),
      waited('ptn_1', 90),
      waited('ptn_2', 5),
      waited('ptn_3', 500, 1),
    ]);
    await ticks(METRICS_TICKS);
    const ages = await unattempted();
    expect([...ages.keys()].sort()).toEqual(['ptn_1', 'ptn_2']);
    expect(ages.get('ptn_1')).toBeCloseTo(90, 0);
    expect(ages.get('ptn_2')).toBeCloseTo(5, 0);
    expect(await valueOf(metrics.oldest_waiting)).toBeCloseTo(500, 0);
    expect(await valueOf(metrics.partners_waiting)).toBe(1);
  });

  test('show the fifty partners that have waited longest, count all, and drop empty ones', async () => {
    const tracked = Array.from({ length: 80 }, (_unused, at) => waited(`ptn_${at}`, 100 + at));
    const { ticks } = rig(tracked);
    await ticks(METRICS_TICKS);
    const ages = await unattempted();
    expect(ages.size).toBe(50);
    expect(ages.has('ptn_79')).toBe(true);
    expect(ages.has('ptn_29')).toBe(false);
    expect(await valueOf(metrics.partners_waiting)).toBe(80);
    tracked.splice(0);
    await ticks(METRICS_TICKS);
    expect((await unattempted()).size).toBe(0);
    expect(await valueOf(metrics.oldest_waiting)).toBe(0);
  });
});

describe('the scan of stored deliveries', () => {
  test('tracks overdue rows that are not tracked and whose partner does not overflow', async () => {
    const { rows, added, asked, known, overflowing, ticks } = rig();
    rows.push(row('a'), row('b'), row('c', 'ptn_away'));
    known.add('b');
    overflowing.add('ptn_away');
    await ticks(SCAN_TICKS);
    expect(added).toEqual(['a']);
    expect(asked).toMatchObject([{ partitions: [1, 2], after: undefined }]);
    expect(Date.now() - Number(asked[0]?.due)).toBeGreaterThanOrEqual(30_000);
  });

  test('one replica, which has the first partition, counts them', async () => {
    const { ticks } = rig();
    const counts = async () =>
      (await metrics.deliveries_stored.get()).values.map(({ labels, value }) => [
        labels.status,
        value,
      ]);
    await ticks(SCAN_TICKS, [0, 4]);
    expect(await counts()).toEqual([
      ['retrying', 7],
      ['failed', 3],
    ]);
    await ticks(SCAN_TICKS, [1, 2]);
    expect(await counts()).toEqual([]);
  });

  test('reads page by page, and starts again after the last', async () => {
    const { rows, added, asked, ticks } = rig();
    const ids = Array.from({ length: PAGE + 1 }, (_unused, at) => String(at).padStart(6, '0'));
    rows.push(...ids.map((id) => row(id)));
    for (let round = 0; round < 3; round += 1) await ticks(SCAN_TICKS);
    expect(asked.map(({ after }) => after)).toEqual([undefined, ids[PAGE - 1], undefined]);
    expect(new Set(added).size).toBe(PAGE + 1);
  });

  test('is repeated at the next time after the store was unreachable', async () => {
    const { rows, added, state, ticks } = rig();
    rows.push(row('a'));
    state.fails = true;
    await ticks(SCAN_TICKS);
    expect(added).toEqual([]);
    state.fails = false;
    await ticks(SCAN_TICKS);
    expect(added).toEqual(['a']);
  });
});
