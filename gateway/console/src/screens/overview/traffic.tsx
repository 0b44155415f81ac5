// Messages by day as a chart, with the same figures in a table.
import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { trafficQuery, type DayCounts } from '../../api/queries';
import { Bars } from '../../parts/bars';
import { Card } from '../../parts/card';
import { Loaded } from '../../parts/loaded';
import { countOf, dayInWords } from '../../period';

const SERIES = ['sent', 'delivered', 'read', 'failed'] as const;
const TITLES = { sent: 'Sent', delivered: 'Delivered', read: 'Read', failed: 'Failed' } as const;

export function Traffic({ from, to }: { from: string; to: string }) {
  const query = useQuery(trafficQuery(from, to));
  return (
    <Card title="Messages by day">
      <Loaded query={query} what="the messages by day" lines={5}>
        {(days) => <Chart days={days} />}
      </Loaded>
    </Card>
  );
}

function Chart({ days }: { days: DayCounts[] }) {
  const most = Math.max(1, ...days.flatMap(({ counts }) => SERIES.map((name) => counts[name])));
  const first = days[0]?.day ?? '';
  const last = days.at(-1)?.day ?? '';
  const sum = days.reduce((all, { counts }) => all + counts.sent, 0);
  const label = `${countOf(sum)} messages sent from ${dayInWords(first)} to ${dayInWords(last)}, at most ${countOf(most)} in one day`;
  return (
    <>
      <ul className="traffic-legend">
        {SERIES.map((name) => (
          <li key={name} className={`traffic-${name}`}>
            {TITLES[name]}
          </li>
        ))}
      </ul>
      <Bars
        groups={days.map(({ day, counts }) => ({
          key: day,
          values: SERIES.map((name) => ({ name, value: counts[name] })),
        }))}
        label={label}
        most={most}
      />
      <div className="traffic-axis">
        <span>{dayInWords(first)}</span>
        <span>{dayInWords(last)}</span>
      </div>
      <Figures days={days} />
      <Text size="xs" c="dimmed" mt="xs">
        In whole UTC days. A status counts on the day on which it came.
      </Text>
    </>
  );
}

const Figures = ({ days }: { days: DayCounts[] }) => (
  <details>
    <summary>The figures as a table</summary>
    <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day (UTC)</Table.Th>
            {SERIES.map((name) => (
              <Table.Th key={name} ta="right">
                {TITLES[name]}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.map(({ day, counts }) => (
            <Table.Tr key={day}>
              <Table.Td>{day}</Table.Td>
              {SERIES.map((name) => (
                <Table.Td key={name} ta="right">
                  {countOf(counts[name])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </details>
);
