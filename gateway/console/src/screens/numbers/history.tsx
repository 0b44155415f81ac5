// Quality and messaging limit of a number over time: two pictures with a bar for each day, the
// changes in words, and the same figures in a table.
import { Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { numberDaysQuery } from '../../api/queries';
import type { NumberDay } from '../../api/types';
import { changesOf, everyDay, heightOf, LIMITS, QUALITIES } from '../../number-days';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { dayInWords, nounOf } from '../../period';
import { limitOf } from './limit';

/** A new number's few bars stand at the right of a picture of a month. */
const DAYS_MIN = 30;
const HEIGHT = 40;
const GAP = 0.15;
const CHANGES_MAX = 5;

const wordOf = (quality: string | null): string => quality?.toLowerCase() ?? '–';

export function NumberHistory({ phone_number_id }: { phone_number_id: string }) {
  const query = useQuery(numberDaysQuery(phone_number_id));
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        Quality and limit over time
      </Title>
      <Loaded query={query} what="the history of the number" lines={3}>
        {(days) =>
          days.length === 0 ? (
            <Text size="sm">There is no record yet: the first one is made within a day.</Text>
          ) : (
            <History days={everyDay(days)} />
          )
        }
      </Loaded>
    </Stack>
  );
}

interface Picture {
  title: string;
  grades: readonly string[];
  fact: 'quality_rating' | 'messaging_limit_tier';
  nameOf: (value: string | null) => string;
}

const PICTURES: readonly Picture[] = [
  { title: 'Quality', grades: QUALITIES, fact: 'quality_rating', nameOf: wordOf },
  { title: 'Messaging limit', grades: LIMITS, fact: 'messaging_limit_tier', nameOf: limitOf },
];

const History = ({ days }: { days: NumberDay[] }) => (
  <>
    {PICTURES.map((picture) => (
      <Bars key={picture.title} days={days} of={picture} />
    ))}
    <div className="traffic-axis">
      <span>{days.length < DAYS_MIN ? '' : dayInWords(days[0]?.day ?? '')}</span>
      <span>{dayInWords(days.at(-1)?.day ?? '')}</span>
    </div>
    <Figures days={days} />
    <Text size="xs" c="dimmed">
      The last values of each UTC day, read from the upstream once a day and after each change that
      it announces.
    </Text>
  </>
);

function Bars({ days, of: { title, grades, fact, nameOf } }: { days: NumberDay[]; of: Picture }) {
  const changes = changesOf(days, fact);
  const latest = nameOf(days.findLast((one) => one[fact] !== null)?.[fact] ?? null);
  const slots = Math.max(DAYS_MIN, days.length);
  return (
    <div>
      <Text size="sm">
        {title}: {latest}
      </Text>
      <svg
        className="strip"
        role="img"
        aria-label={`${title} by day since ${dayInWords(days[0]?.day ?? '')}: ${latest} now, ${nounOf(changes.length, 'change')}`}
        viewBox={`0 0 ${slots} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {days.map((one, at) => {
          const height = heightOf(grades, one[fact]) * HEIGHT;
          return (
            <rect
              key={one.day}
              className={`strip-${one[fact]}`}
              x={slots - days.length + at + GAP / 2}
              y={HEIGHT - height}
              width={1 - GAP}
              height={height}
            />
          );
        })}
      </svg>
      {changes.slice(0, CHANGES_MAX).map(({ day, from, to }) => (
        <Text key={day} size="sm">
          {dayInWords(day)}: from {nameOf(from)} to {nameOf(to)}
        </Text>
      ))}
    </div>
  );
}

const Figures = ({ days }: { days: NumberDay[] }) => (
  <details>
    <summary>The figures as a table</summary>
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Day (UTC)</Table.Th>
          <Table.Th>Quality</Table.Th>
          <Table.Th>Limit</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.toReversed().map(({ day, quality_rating, messaging_limit_tier }) => (
          <Table.Tr key={day}>
            <Table.Td>{day}</Table.Td>
            <Table.Td>
              <State of={quality_rating} />
            </Table.Td>
            <Table.Td>{limitOf(messaging_limit_tier)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </details>
);
