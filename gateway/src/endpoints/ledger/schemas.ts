import { cursor, DAY, id, limit, object } from '../parts/inputs';
import type { Typed } from '../parts/schema';

const calendarDay = (description: string): Typed<'string'> => ({
  type: 'string',
  pattern: `^${DAY}$`,
  errorMessage: 'must be a day, YYYY-MM-DD',
  description,
});

export const getLedger = object({
  from: calendarDay(
    'First day of the period (UTC). Defaults to the first day of the month of `to`.',
  ),
  to: calendarDay('Last day of the period (UTC), at most 30 days after `from`. Defaults to today.'),
  phone_number_id: id('Only entries of this number.'),
  limit: limit(100, 1_000),
  after: cursor('Returns the next page: `next` of the current one.'),
});
