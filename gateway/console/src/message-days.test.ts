import { countsByDay, sentByCategory, totalsOf } from './message-days';

const row = (day: string, category: string, sent: number, delivered = 0) => ({
  ...{ day, category, sent, delivered },
  ...{ read: 0, failed: 0 },
});
const ROWS = [
  row('2026-11-01', 'utility', 100),
  row('2026-11-02', 'utility', 3, 2),
  row('2026-11-02', 'service', 1, 1),
  row('2026-11-04', 'utility', 5),
  row('2026-11-05', 'utility', 100),
];
const PERIOD = { from: '2026-11-02', to: '2026-11-04' };

test('the days and the categories of a period sum up to its totals', () => {
  expect(totalsOf(ROWS, PERIOD)).toEqual({ sent: 9, delivered: 3, read: 0, failed: 0 });
  expect(countsByDay(ROWS, PERIOD).map(({ sent }) => sent)).toEqual([4, 0, 5]);
  expect(sentByCategory(ROWS, PERIOD)).toEqual({ utility: 8, service: 1 });
});
