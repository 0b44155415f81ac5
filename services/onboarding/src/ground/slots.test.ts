import { billOf, monthOf, noteChange, peakOf, slotsFor, type MonthCounts } from './slots';

/** Applies registrations (+1) and removals (-1), each by its month. */
function play(changes: Record<string, Array<1 | -1>>): MonthCounts {
  const counts: MonthCounts = {};
  let active = 0;
  for (const [month, all] of Object.entries(changes)) {
    for (const by of all) {
      const after = active + by;
      counts[month] = noteChange(counts, month, { before: active, after });
      active = after;
    }
  }
  return counts;
}

describe('slots', () => {
  it.each([
    [0, 0],
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [6, 2],
    [7, 3],
  ])('%i accounts need %i slots', (wabas, slots) => {
    expect(slotsFor(wabas)).toBe(slots);
  });

  it('cost 10 dollars each', () => {
    expect(billOf(play({ '2026-09': [1, 1, 1, 1] }), '2026-09')).toEqual({
      slots: 2,
      peak_active_wabas: 4,
      fee_cents: 2_000,
    });
  });

  it('are free without an account', () => {
    expect(billOf({}, '2026-09')).toEqual({ slots: 0, peak_active_wabas: 0, fee_cents: 0 });
  });
});

describe('the peak of a month', () => {
  it.each<[is: string, changes: Parameters<typeof play>[0], month: string, peak: number]>([
    ['not raised by removing and registering again', { '2026-09': [1, 1, 1, -1, 1] }, '2026-09', 3],
    ['kept when accounts are removed', { '2026-09': [1, 1, -1, -1] }, '2026-09', 2],
    ['that at its beginning', { '2026-08': [1, 1], '2026-09': [-1] }, '2026-09', 2],
    ['what the month before ended with', { '2026-08': [1, 1], '2026-09': [-1] }, '2026-10', 1],
    ['what an earlier month ended with', { '2026-07': [1, 1, -1] }, '2026-12', 1],
    ['none before the first account', { '2026-07': [1, 1, -1] }, '2026-06', 0],
  ])('is %s', (_is, changes, month, peak) => {
    expect(peakOf(play(changes), month)).toBe(peak);
  });

  it('follows the UTC calendar', () => {
    expect(monthOf(new Date('2026-09-30T23:59:59.999Z'))).toBe('2026-09');
    expect(monthOf(new Date('2026-10-01T01:00:00+02:00'))).toBe('2026-09');
  });
});
