// Quality and messaging limit of a number by day, with the changes in words.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { numberDaysQuery } from '../../api/queries';
import type { NumberDay } from '../../api/types';
import {
  changesOf,
  everyDay,
  gradeOf,
  limitOf,
  LIMITS,
  QUALITIES,
  type Fact,
} from '../../number-days';
import { Chart } from '../../parts/chart';
import { Hint, Loaded, Section } from '../../parts/layout';
import { dayInWords, nounOf } from '../../period';

const CHANGES_MAX = 5;

const wordOf = (quality: string | null): string => quality?.toLowerCase() ?? '–';

export const NumberHistory = ({ phone_number_id }: { phone_number_id: string }) => (
  <Section title="Quality and limit over time">
    <Loaded
      query={useQuery(numberDaysQuery(phone_number_id))}
      what="the history of the number"
      lines={3}
    >
      {(days) =>
        days.length === 0 ? (
          <Text size="sm">There is no record yet: the first one is made within a day.</Text>
        ) : (
          <History days={everyDay(days)} />
        )
      }
    </Loaded>
  </Section>
);

interface Picture {
  title: string;
  grades: readonly string[];
  fact: Fact;
  nameOf: (value: string | null) => string;
}

const PICTURES: readonly Picture[] = [
  { title: 'Quality', grades: QUALITIES, fact: 'quality_rating', nameOf: wordOf },
  { title: 'Messaging limit', grades: LIMITS, fact: 'messaging_limit_tier', nameOf: limitOf },
];

const History = ({ days }: { days: NumberDay[] }) => (
  <>
    {PICTURES.map((picture) => (
      <Graded key={picture.title} days={days} of={picture} />
    ))}
    <Hint>
      The last values of each UTC day, read from the upstream once a day and after each change that
      it announces.
    </Hint>
  </>
);

function Graded({ days, of: { title, grades, fact, nameOf } }: { days: NumberDay[]; of: Picture }) {
  const changes = changesOf(days, fact);
  const latest = nameOf(days.findLast((one) => one[fact] !== null)?.[fact] ?? null);
  return (
    <div>
      <Text size="sm">
        {title}: {latest}
      </Text>
      <Chart
        kind="bars"
        title={`${title} by day`}
        label={`${title} by day since ${dayInWords(days[0]?.day ?? '')}: ${latest} now, ${nounOf(changes.length, 'change')}`}
        days={days.map(({ day }) => day)}
        series={[
          { name: title, colour: 'accent', values: days.map((one) => gradeOf(grades, one[fact])) },
        ]}
        most={grades.length}
        format={(grade) => nameOf(grades[grade - 1] ?? null)}
      />
      {changes.slice(0, CHANGES_MAX).map(({ day, from, to }) => (
        <Text key={day} size="sm">
          {dayInWords(day)}: from {nameOf(from)} to {nameOf(to)}
        </Text>
      ))}
    </div>
  );
}
