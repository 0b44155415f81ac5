// Messages by day, beside those that were sent in the period before.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { messageDaysQuery } from '../../api/queries';
import type { MessageDay } from '../../api/types';
import { countsByDay, totalsOf } from '../../message-days';
import { Chart } from '../../parts/chart';
import { Loaded } from '../../parts/loaded';
import { countOf, dayInWords, daysOf, periodBefore, type Days } from '../../period';

const SERIES = [
  { key: 'sent', name: 'Sent', colour: 'accent' },
  { key: 'delivered', name: 'Delivered', colour: 'good' },
  { key: 'read', name: 'Read', colour: 'literal' },
  { key: 'failed', name: 'Failed', colour: 'bad' },
] as const;

export function Traffic(period: Days) {
  const query = useQuery(messageDaysQuery);
  return (
    <Loaded query={query} what="the messages by day" lines={5}>
      {(rows) => <Drawn rows={rows} period={period} />}
    </Loaded>
  );
}

function Drawn({ rows, period }: { rows: readonly MessageDay[]; period: Days }) {
  const days = countsByDay(rows, period);
  const sums = days.map(({ sent }) => sent);
  const { sent } = totalsOf(rows, period);
  return (
    <>
      <Chart
        kind="bars"
        title="Messages by day"
        label={`${countOf(sent)} messages sent from ${dayInWords(period.from)} to ${dayInWords(period.to)}, at most ${countOf(Math.max(...sums))} in one day`}
        days={daysOf(period)}
        series={[
          ...SERIES.map(({ key, ...one }) => ({
            ...one,
            values: days.map((counts) => counts[key]),
          })),
          {
            name: 'Sent before',
            colour: 'dim',
            is_before: true,
            values: countsByDay(rows, periodBefore(period)).map((counts) => counts.sent),
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
