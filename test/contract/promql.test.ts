// The query reader finds metrics and labels.
import { familyOf, namesIn } from './promql';

test('finds metrics, selected labels and grouping labels', () => {
  const { metrics, grouping } = namesIn(
    'sum by (destination, group) (rate(lag_total{group="a", x!~"b|c"}[5m])) > 0 unless on (group) max(other offset 1h)',
  );
  expect(metrics).toEqual([
    { metric: 'lag_total', labels: ['group', 'x'] },
    { metric: 'other', labels: [] },
  ]);
  expect(grouping).toEqual(['destination', 'group', 'group']);
});

test('takes a misspelt function for an unknown metric', () => {
  expect(namesIn('rat(up[5m])').metrics.map(({ metric }) => metric)).toEqual(['rat', 'up']);
});

test('assigns the series of a histogram to its family', () => {
  expect(familyOf('x_seconds_bucket')).toBe('x_seconds');
  expect(familyOf('x_seconds')).toBe('x_seconds');
});
