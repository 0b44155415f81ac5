import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

export const getProfile: RowDocs = {
  answer: is.record({
    profile: is.node({
      about: is.text('Plants'),
      address: is.text('1 Example Street'),
      description: is.text('A shop for plants'),
      email: is.text('hi@example.org'),
      profile_picture_url: is.text('https://pictures.example.org/1'),
      websites: is.list(is.text('https://example.org/')),
      vertical: is.text('RETAIL'),
    }),
  }),
};

export const updateProfile: RowDocs = {
  answer: is.nothing,
  example: { about: 'Plants and pots', websites: ['https://example.org/'] },
};

const numbers = { sent: is.whole(12), delivered: is.whole(11) };

export const getAnalytics: RowDocs = {
  answer: is.record({
    waba_id: is.text('900000000000001'),
    period_days: is.whole(7, 'the number of days that was used'),
    meta_analytics: is.record({
      ...numbers,
      read: is.whole(9),
      data_points: is.list(
        is.record({
          start: is.whole(1788220800, 'epoch seconds'),
          end: is.whole(1788307200, 'epoch seconds'),
          ...numbers,
          read: is.whole(9),
        }),
      ),
    }),
    daily_logs: is.list(
      is.record({ date: is.text('2026-09-01'), sent: is.whole(12), failed: is.whole(1) }),
    ),
  }),
};
