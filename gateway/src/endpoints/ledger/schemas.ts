import { broadcastId, cursor, DAY, id, limit, object, text } from '../parts/inputs';
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
  broadcast_id: broadcastId(
    'Only the messages of this broadcast. Without `from` and `to`, from the day on which it began.',
  ),
  limit: limit(100, 1_000),
  after: cursor('Returns the next page: `next` of the current one.'),
});

const COUNTRY_MAX = 64;
const CATEGORY_MAX = 32;

export const listPrices = object({
  country: text(
    COUNTRY_MAX,
    'A country by its two letters (`BR`) or its English name (`Brazil`), or a market of the rate card. All markets without it.',
  ),
  category: text(
    CATEGORY_MAX,
    '`marketing`, `utility`, `authentication`, `authentication_international` or `service`. All without it.',
  ),
  date: calendarDay('The day whose prices apply (UTC). Defaults to today.'),
});
