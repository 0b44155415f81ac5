import { object } from '../parts/inputs';

/** Contract 11.5: `days`. */
const DAYS_DEFAULT = 7;
const DAYS_MAX = 90;

export const getAnalytics = object({
  days: {
    type: 'integer',
    minimum: 1,
    maximum: DAYS_MAX,
    lowerTo: DAYS_MAX,
    default: DAYS_DEFAULT,
    description: `Number of UTC days, including today. The maximum is ${DAYS_MAX}; a larger value is lowered to it.`,
  },
});
