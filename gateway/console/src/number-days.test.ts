import { changesOf, everyDay, gradeOf, LIMITS, QUALITIES } from './number-days';

const day = (of: string, quality_rating: string | null, messaging_limit_tier = 'TIER_1K') => ({
  day: of,
  quality_rating,
  messaging_limit_tier,
});

test('a bar is as high as the grade, and a value without a grade has none', () => {
  expect(['RED', 'YELLOW', 'GREEN'].map((one) => gradeOf(QUALITIES, one))).toEqual([1, 2, 3]);
  expect(gradeOf(LIMITS, 'UNLIMITED')).toBe(LIMITS.length);
  expect([gradeOf(QUALITIES, 'UNKNOWN'), gradeOf(LIMITS, null)]).toEqual([null, null]);
});

test('days without a record are gaps until today', () => {
  const days = everyDay(
    [day('2026-11-01', 'GREEN'), day('2026-11-03', 'RED')],
    new Date('2026-11-04T12:00:00Z'),
  );
  expect(days.map(({ day: of, quality_rating }) => [of, quality_rating])).toEqual([
    ['2026-11-01', 'GREEN'],
    ['2026-11-02', null],
    ['2026-11-03', 'RED'],
    ['2026-11-04', null],
  ]);
  expect(everyDay([])).toEqual([]);
});

test('changes are found across days without a value, the newest first', () => {
  const days = [
    day('2026-11-01', 'GREEN'),
    day('2026-11-02', null),
    day('2026-11-03', 'YELLOW'),
    day('2026-11-04', 'YELLOW', 'TIER_10K'),
    day('2026-11-05', 'GREEN', 'TIER_10K'),
  ];
  expect(changesOf(days, 'quality_rating')).toEqual([
    { day: '2026-11-05', from: 'YELLOW', to: 'GREEN' },
    { day: '2026-11-03', from: 'GREEN', to: 'YELLOW' },
  ]);
  expect(changesOf(days, 'messaging_limit_tier')).toEqual([
    { day: '2026-11-04', from: 'TIER_1K', to: 'TIER_10K' },
  ]);
  expect(changesOf([day('2026-11-01', 'RED')], 'quality_rating')).toEqual([]);
});
