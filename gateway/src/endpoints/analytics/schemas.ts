import { object } from '../parts/inputs';

/** Contract, Limits: `days`. */
const DAYS_DEFAULT = 7;
const DAYS_MAX = 90;

export const getAnalytics = object({
  days: {
    type: 'integer',
    minimum: 1,
    maximum: DAYS_MAX,
    lowerTo: DAYS_MAX,
    default: DAYS_DEFAULT,
    description: `whole UTC days, today being the last; at most ${DAYS_MAX}, more is lowered`,
  },
});
