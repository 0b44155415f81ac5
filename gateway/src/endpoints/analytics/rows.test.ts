import { replyOf, taken, TARGET } from '../../../../test/contract/rows';

const NAME = 'GET /analytics';

test.each([
  [{}, 7],
  [{ days: '1' }, 1],
  [{ days: '90' }, 90],
  [{ days: '400' }, 90],
])('%j requests %i days', (query, days) => {
  expect(taken(NAME, query)).toEqual({ days });
});

test('answers the contract’s keys', () => {
  const figures = {
    ...{ sent: 3, delivered: 2, read: 1 },
    data_points: [{ start: 1, end: 2, sent: 3, delivered: 2, read: 1 }],
  };
  const daily_logs = [{ date: '2026-09-21', sent: 3, failed: 0 }];
  expect(replyOf(NAME, { ...figures, daily_logs }, { query: { days: 7 } })).toEqual({
    waba_id: TARGET.waba_id,
    period_days: 7,
    meta_analytics: figures,
    daily_logs,
  });
});
