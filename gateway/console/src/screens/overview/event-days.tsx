// The events of each day and how fast the receiver answered, as charts with the same figures in a
// table. Drawn on request: its reads of the event log share a budget with those of the partner's
// programs.
import { Button, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { eventDaysQuery, EVENTS_SAMPLED } from '../../api/queries';
import type { EventDay } from '../../event-days';
import { Bars } from '../../parts/bars';
import { Card } from '../../parts/card';
import { focusOnMount } from '../../parts/focus-on-mount';
import { Loaded } from '../../parts/loaded';
import { countOf, dayInWords, nounOf, percent } from '../../period';

export function EventDays({ from, to }: { from: string; to: string }) {
  const [is_wanted, setWanted] = useState(false);
  const query = useQuery({ ...eventDaysQuery(from, to), enabled: is_wanted });
  return (
    <Card title="Events by day">
      {is_wanted ? (
        <div ref={focusOnMount} tabIndex={-1} className="focused-content">
          <Loaded query={query} what="the events by day" lines={5}>
            {(days) => <Charts days={days} />}
          </Loaded>
        </div>
      ) : (
        <Button variant="default" onClick={() => setWanted(true)}>
          Draw the events by day
        </Button>
      )}
    </Card>
  );
}

const answerOf = ({ answer_ms }: EventDay): string =>
  answer_ms === null ? '–' : `${countOf(answer_ms)} ms`;

function Charts({ days }: { days: EventDay[] }) {
  const [first, last] = [days[0]?.day ?? '', days.at(-1)?.day ?? ''];
  const sum = days.reduce((all, { events }) => all + events, 0);
  const most = Math.max(1, ...days.map(({ events }) => events));
  const slowest = Math.max(0, ...days.map(({ answer_ms }) => answer_ms ?? 0));
  const between = `from ${dayInWords(first)} to ${dayInWords(last)}`;
  const barsOf = (name: string, valueOf: (day: EventDay) => number) =>
    days.map((day) => ({ key: day.day, values: [{ name, value: valueOf(day) }] }));
  return (
    <>
      <Bars
        groups={barsOf('events', ({ events }) => events)}
        label={`${nounOf(sum, 'event')} ${between}, at most ${countOf(most)} in one day`}
        most={most}
      />
      {slowest > 0 && (
        <>
          <Text size="sm" mt="sm">
            Answer time of your receiver, at most {countOf(slowest)} ms
          </Text>
          <Bars
            groups={barsOf('answer', ({ answer_ms }) => answer_ms ?? 0)}
            label={`The median answer time of your receiver ${between}, at most ${countOf(slowest)} ms`}
            most={slowest}
          />
        </>
      )}
      <div className="traffic-axis">
        <span>{dayInWords(first)}</span>
        <span>{dayInWords(last)}</span>
      </div>
      <Figures days={days} />
      <Text size="xs" c="dimmed" mt="xs">
        In whole UTC days. Answers are those to the first {EVENTS_SAMPLED} events of a day.
      </Text>
    </>
  );
}

const HEAD = ['Day (UTC)', 'Events', 'Accepted', 'Answer time'];

const Figures = ({ days }: { days: EventDay[] }) => (
  <details>
    <summary>The events as a table</summary>
    <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label="Events by day">
        <Table.Thead>
          <Table.Tr>
            {HEAD.map((title, at) => (
              <Table.Th key={title} ta={at === 0 ? 'left' : 'right'}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.map((one) => (
            <Table.Tr key={one.day}>
              <Table.Td>{one.day}</Table.Td>
              <Table.Td ta="right">{countOf(one.events)}</Table.Td>
              <Table.Td ta="right">
                {one.accepted === null ? '–' : percent(one.accepted, 100)}
              </Table.Td>
              <Table.Td ta="right">{answerOf(one)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </details>
);
