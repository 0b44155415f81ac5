// The events of each day, the share that the receiver accepted, and how fast it answered. Its reads
// of the event log share a budget with those of the partner's programs: they wait until it is seen.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { eventDaysQuery, EVENTS_SAMPLED } from '../../api/queries';
import type { EventDay } from '../../event-days';
import { Chart } from '../../parts/chart';
import { Loaded } from '../../parts/loaded';
import { ReceiverCharts } from '../../parts/receiver-charts';
import { countOf, dayInWords, nounOf, type Days } from '../../period';

export function EventDays({ from, to }: Days) {
  const query = useQuery(eventDaysQuery(from, to));
  return (
    <Loaded query={query} what="the events by day" lines={5}>
      {(days) => <Drawn of={days} />}
    </Loaded>
  );
}

function Drawn({ of: read }: { of: EventDay[] }) {
  const days = read.map(({ day }) => day);
  const events = read.map((one) => one.events);
  const between = `from ${dayInWords(days[0] ?? '')} to ${dayInWords(days.at(-1) ?? '')}`;
  const sum = events.reduce((all, count) => all + count, 0);
  return (
    <>
      <Chart
        kind="bars"
        title="Events by day"
        label={`${nounOf(sum, 'event')} ${between}, at most ${countOf(Math.max(...events))} in one day`}
        days={days}
        series={[{ name: 'Events', colour: 'accent', values: events }]}
        format={countOf}
      />
      <ReceiverCharts
        days={days}
        accepted={read.map(({ accepted }) => accepted)}
        answer_ms={read.map(({ answer_ms }) => answer_ms)}
        label={`The share of events that your receiver accepted ${between}`}
      />
      <Text size="xs" c="dimmed" mt="xs">
        In whole UTC days. Answers are those to the first {EVENTS_SAMPLED} events of a day.
      </Text>
    </>
  );
}
