// The receiver over time or by day: the share of events that it accepted, and how fast it answered.
import { SimpleGrid, Text } from '@mantine/core';
import { countOf, percent } from '../period';
import { Chart } from './chart';
import type { ChartData } from './plot';

interface ReceiverChartsProps extends Pick<ChartData, 'days' | 'times_ms'> {
  /** In percent; null without an outcome. */
  accepted: ReadonlyArray<number | null>;
  /** Medians. */
  answer_ms: ReadonlyArray<number | null>;
  /** The whole in words. */
  label: string;
}

export const ReceiverCharts = ({ accepted, answer_ms, label, ...places }: ReceiverChartsProps) => (
  <SimpleGrid cols={{ base: 1, md: 2 }} mt="sm">
    <div>
      <Text size="sm">Accepted by your receiver</Text>
      <Chart
        kind="lines"
        title="Accepted"
        label={label}
        {...places}
        series={[{ name: 'Accepted', colour: 'good', values: accepted }]}
        most={100}
        format={(value) => percent(value, 100)}
      />
    </div>
    <div>
      <Text size="sm">Answer time of your receiver</Text>
      <Chart
        kind="lines"
        title="Answer time"
        label={`The median answer time of your receiver, at most ${msOf(Math.max(0, ...answer_ms.map((value) => value ?? 0)))}`}
        {...places}
        series={[{ name: 'Answer time', colour: 'accent', values: answer_ms }]}
        format={msOf}
      />
    </div>
  </SimpleGrid>
);

const msOf = (value: number): string => `${countOf(value)} ms`;
