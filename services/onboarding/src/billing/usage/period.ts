// The period of a usage report. Counters are kept by UTC day, so a report covers whole days even
// if the request names times.
import { invalidField } from '@bmg/common/errors';
import { dayOf } from '@bmg/common/time';

export interface DayRange {
  /** YYYY-MM-DD, both included. */
  from_day: string;
  to_day: string;
}

interface UsagePeriod extends DayRange {
  from: Date;
  to: Date;
}

const DAY_MS = 86_400_000;
/** How long counters are kept. */
const DAYS_MAX = 400;

const monthStart = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));

/**
 * By default from the start of the UTC month until now. Throws INVALID_FIELD naming `from` if
 * the period is reversed or longer than counters are kept.
 */
export function usagePeriod(
  given: { from?: Date | undefined; to?: Date | undefined },
  now: Date,
): UsagePeriod {
  const to = given.to ?? (given.from && given.from > now ? given.from : now);
  const from = given.from ?? monthStart(to);
  if (from > to) throw invalidField('from', 'must not be after to');
  if (to.getTime() - from.getTime() > DAYS_MAX * DAY_MS) {
    throw invalidField('from', `must not be more than ${DAYS_MAX} days before to`);
  }
  return { from, to, from_day: dayOf(from), to_day: dayOf(to) };
}
