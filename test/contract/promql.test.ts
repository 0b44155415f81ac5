// The reader of queries finds what it is to find.
import { familyOf, namesIn } from './promql';

test('metrics, the labels that are selected, and the labels that are grouped by', () => {
  const { metrics, grouping } = namesIn(
    'sum by (destination, group) (rate(lag_total{group="a", x!~"b|c"}[5m])) > 0 unless on (group) max(other offset 1h)',
  );
  expect(metrics).toEqual([
    { metric: 'lag_total', labels: ['group', 'x'] },
    { metric: 'other', labels: [] },
  ]);
  expect(grouping).toEqual(['destination', 'group', 'group']);
});

test('a misspelt function is taken for a metric, which does not exist', () => {
  expect(namesIn('rat(up[5m])').metrics.map(({ metric }) => metric)).toEqual(['rat', 'up']);
});

test('the series of a histogram are of its family', () => {
  expect(familyOf('x_seconds_bucket')).toBe('x_seconds');
  expect(familyOf('x_seconds')).toBe('x_seconds');
});
