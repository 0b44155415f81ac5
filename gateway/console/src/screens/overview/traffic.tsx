// Messages by day, beside those that were sent in the period before.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { trafficQuery, type DayCounts } from '../../api/queries';
import { Chart } from '../../parts/chart';
import { Loaded } from '../../parts/loaded';
import { countOf, dayInWords, periodBefore, type Days } from '../../period';

const SERIES = [
  { key: 'sent', name: 'Sent', colour: 'accent' },
  { key: 'delivered', name: 'Delivered', colour: 'good' },
  { key: 'read', name: 'Read', colour: 'literal' },
  { key: 'failed', name: 'Failed', colour: 'bad' },
] as const;

export function Traffic(period: Days) {
  const query = useQuery(trafficQuery(period));
  // One after the other: each reads many days.
  const before = useQuery({ ...trafficQuery(periodBefore(period)), enabled: query.isSuccess });
  return (
    <Loaded query={query} what="the messages by day" lines={5}>
      {(days) => <Drawn days={days} before={before.data} />}
    </Loaded>
  );
}

function Drawn({ days, before }: { days: DayCounts[]; before: DayCounts[] | undefined }) {
  const sums = days.map(({ counts }) => counts.sent);
  const [first, last] = [days[0]?.day ?? '', days.at(-1)?.day ?? ''];
  const sum = sums.reduce((all, sent) => all + sent, 0);
  return (
    <>
      <Chart
        kind="bars"
        title="Messages by day"
        label={`${countOf(sum)} messages sent from ${dayInWords(first)} to ${dayInWords(last)}, at most ${countOf(Math.max(...sums))} in one day`}
        days={days.map(({ day }) => day)}
        series={[
          ...SERIES.map(({ key, ...one }) => ({
            ...one,
            values: days.map(({ counts }) => counts[key]),
          })),
          {
            name: 'Sent before',
            colour: 'dim',
            is_before: true,
            values: days.map((_day, at) => before?.[at]?.counts.sent ?? null),
          },
        ]}
        format={countOf}
      />
      <Text size="xs" c="dimmed" mt="xs">
        In whole UTC days. A status counts on the day on which it came. “Before” is the period of
        the same length that ended on the day before.
      </Text>
    </>
  );
}
