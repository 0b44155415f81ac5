import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const numbers = { sent: is.whole(12), delivered: is.whole(11) };

export const getAnalytics: RowDocs = {
  answer: is.record({
    waba_id: is.text('900000000000001'),
    period_days: is.whole(7, 'The number of days that was used.'),
    meta_analytics: is.record({
      ...numbers,
      read: is.whole(9),
      data_points: is.list(
        is.record({
          start: is.whole(1788220800, 'Epoch seconds.'),
          end: is.whole(1788307200, 'Epoch seconds.'),
          ...numbers,
          read: is.whole(9),
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
};
