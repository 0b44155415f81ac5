import { MessagingDefinition } from '@bmg/proto/messaging';
import { get, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { object } from '../parts/inputs';

const counts = { sent: is.whole(12), delivered: is.whole(11), read: is.whole(9) };

/** Contract 11.5: `days`. */
const DAYS_DEFAULT = 7;
const DAYS_MAX = 90;

export const analytics: Endpoint[] = [
  get('/analytics', rpc(MessagingDefinition, 'getAnalytics'), {
    scope: 'number',
    query: object({
      days: {
        type: 'integer',
        minimum: 1,
        maximum: DAYS_MAX,
        lowerTo: DAYS_MAX,
        default: DAYS_DEFAULT,
        description: `Number of UTC days, including today. The maximum is ${DAYS_MAX}; a larger value is lowered to it.`,
      },
    }),
    reply: ({ daily_logs, ...numbers }, { target, query }) => ({
      waba_id: target.waba_id,
      period_days: query.days,
      meta_analytics: numbers,
      daily_logs,
    }),
    summary: 'Retrieve message counts by day',
    answer: is.record({
      waba_id: is.text('900000000000001'),
      period_days: is.whole(7, 'The number of days that was used.'),
      meta_analytics: is.record({
        ...counts,
        data_points: is.list(
          is.record({
            start: is.whole(1788220800, 'Epoch seconds.'),
            end: is.whole(1788307200, 'Epoch seconds.'),
            ...counts,
          }),
        ),
      }),
      daily_logs: is.list(
        is.record({
          date: is.text('2026-09-01', 'UTC day.'),
          sent: is.whole(12),
          failed: is.whole(1),
        }),
      ),
    }),
    notes:
      '`meta_analytics` holds the upstream’s figures for the business account; `read` and `daily_logs` count the messages you sent through this service.',
  }),
];
