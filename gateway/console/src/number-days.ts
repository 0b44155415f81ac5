// The quality rating and the messaging limit of a number by day: what the picture of them shows.
// Pure.
import type { NumberDay } from './api/types';
import { dayOf, daysOf } from './period';

/** The lowest first. */
export const QUALITIES = ['RED', 'YELLOW', 'GREEN'] as const;
/** The upstream's grades of how many customers a number may write to first; the lowest first. */
export const LIMITS = [
  'TIER_50',
  'TIER_250',
  'TIER_1K',
  'TIER_2K',
  'TIER_10K',
  'TIER_100K',
  'UNLIMITED',
] as const;

/** How many people a number may write to first, in words. */
export const limitOf = (tier: string | null): string =>
  tier === null ? '–' : tier === 'UNLIMITED' ? 'no limit' : `${tier.replace('TIER_', '')} a day`;

/** The place of a value among the grades, from 1; null for one that is not known. */
export const gradeOf = (grades: readonly string[], value: string | null): number | null =>
  value === null ? null : grades.indexOf(value) + 1 || null;

/** Every day from the first record until today; a day without a record has no values. */
export function everyDay(days: readonly NumberDay[], now = new Date()): NumberDay[] {
  const [first] = days;
  if (!first) return [];
  const known = new Map(days.map((one) => [one.day, one]));
  return daysOf({ from: first.day, to: dayOf(now) }).map(
    (day) => known.get(day) ?? { day, quality_rating: null, messaging_limit_tier: null },
  );
}

export type Fact = 'quality_rating' | 'messaging_limit_tier';

/** The days on which the value differs from the last one that is known, the newest first. */
export function changesOf(days: readonly NumberDay[], fact: Fact) {
  const known = days.flatMap((one) => {
    const value = one[fact];
    return value === null ? [] : [{ day: one.day, value }];
  });
  return known
    .flatMap(({ day, value }, at) => {
      const before = known[at - 1]?.value;
      return before === undefined || before === value ? [] : [{ day, from: before, to: value }];
    })
    .reverse();
}
