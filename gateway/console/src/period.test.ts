import { changeOf, daysOf, periodBefore, periodOf } from './period';

test('takes the period of the same length before, across a month', () => {
  const now = new Date('2026-11-03T10:00:00Z');
  expect(periodBefore(periodOf('week', now))).toEqual({ from: '2026-10-21', to: '2026-10-27' });
  expect(periodBefore(periodOf('day', now))).toEqual({ from: '2026-11-02', to: '2026-11-02' });
});

test('lists every day of a period', () => {
  expect(daysOf({ from: '2026-10-30', to: '2026-11-01' })).toEqual([
    '2026-10-30',
    '2026-10-31',
    '2026-11-01',
  ]);
});

test('gives the change of a count, and none without an earlier count', () => {
  expect(changeOf(15, 10)).toMatch(/^\+50\s?%$/);
  expect(changeOf(5, 10)).toMatch(/^[-−]50\s?%$/);
  expect(changeOf(10, 10)).toMatch(/^0\s?%$/);
  expect(changeOf(5, 0)).toBe('');
});
