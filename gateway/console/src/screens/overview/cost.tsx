// What the messages of each day cost, as a chart, with the same amounts in a table.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ledgerTotalsQuery } from '../../api/queries';
import type { LedgerTotals } from '../../api/types';
import { costByDay, roughly, sumOf, type DayCosts } from '../../money';
import { Amounts } from '../../parts/amounts';
import { Bars } from '../../parts/bars';
import { Card } from '../../parts/card';
import { Loaded } from '../../parts/loaded';
import { dayInWords, daysOf } from '../../period';

interface CostByDayProps {
  from: string;
  to: string;
}

export function CostByDay({ from, to }: CostByDayProps) {
  const query = useQuery(ledgerTotalsQuery({ from, to }));
  return (
    <Card title="Cost by day">
      <Loaded query={query} what="the cost by day" lines={5}>
        {(totals) => <Costs totals={totals} days={daysOf({ from, to })} />}
      </Loaded>
    </Card>
  );
}

function Costs({ totals, days }: { totals: LedgerTotals; days: string[] }) {
  const charts = costByDay(totals.by_day, days);
  if (charts.length === 0) {
    return <Text size="sm">No message of these days has a price: {sumOf(totals)}.</Text>;
  }
  return (
    <>
      {charts.map((chart) => (
        <Chart key={chart.currency} of={chart} />
      ))}
      <details>
        <summary>The costs as a table</summary>
        <Amounts
          head="Day (UTC)"
          label="Cost by day"
          minWidth={420}
          unknown="not known"
          rows={totals.by_day.map((row) => ({ ...row, name: row.day }))}
        />
      </details>
      <Text size="xs" c="dimmed" mt="xs">
        {sumOf(totals)} in whole UTC days, at the operator’s rates.
      </Text>
    </>
  );
}

function Chart({ of: { currency, costs } }: { of: DayCosts }) {
  const most = Math.max(...costs.map(({ amount }) => amount));
  const sum = costs.reduce((all, { amount }) => all + amount, 0);
  const [first, last] = [costs[0]?.day ?? '', costs.at(-1)?.day ?? ''];
  const label = `${roughly(sum, currency)} from ${dayInWords(first)} to ${dayInWords(last)}, at most ${roughly(most, currency)} in one day`;
  return (
    <>
      <Bars
        groups={costs.map(({ day, amount }) => ({
          key: day,
          values: [{ name: 'cost', value: amount }],
        }))}
        label={label}
        most={most}
      />
      <div className="traffic-axis">
        <span>{dayInWords(first)}</span>
        <span>at most {roughly(most, currency)} in one day</span>
        <span>{dayInWords(last)}</span>
      </div>
    </>
  );
}
