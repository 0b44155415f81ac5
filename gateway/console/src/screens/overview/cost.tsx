// What the messages of each day cost, beside the period before.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ledgerTotalsQuery } from '../../api/queries';
import type { LedgerTotals } from '../../api/types';
import { costByDay, roughly, sumOf } from '../../money';
import { Chart } from '../../parts/chart';
import { Loaded } from '../../parts/loaded';
import { dayInWords, daysOf, periodBefore, type Days } from '../../period';

export function CostByDay(period: Days) {
  const earlier = periodBefore(period);
  const query = useQuery(ledgerTotalsQuery(period));
  const before = useQuery(ledgerTotalsQuery(earlier));
  return (
    <Loaded query={query} what="the cost by day" lines={5}>
      {(totals) => (
        <Drawn
          totals={totals}
          days={daysOf(period)}
          before={costByDay(before.data?.by_day ?? [], daysOf(earlier))}
        />
      )}
    </Loaded>
  );
}

interface DrawnProps {
  totals: LedgerTotals;
  days: string[];
  before: ReturnType<typeof costByDay>;
}

function Drawn({ totals, days, before }: DrawnProps) {
  const charts = costByDay(totals.by_day, days);
  if (charts.length === 0) {
    return <Text size="sm">No message of these days has a price: {sumOf(totals)}.</Text>;
  }
  const between = `from ${dayInWords(days[0] ?? '')} to ${dayInWords(days.at(-1) ?? '')}`;
  return (
    <>
      {charts.map(({ currency, costs }) => {
        const amounts = costs.map(({ amount }) => amount);
        const sum = amounts.reduce((all, amount) => all + amount, 0);
        const past = before.find((one) => one.currency === currency)?.costs;
        return (
          <Chart
            key={currency}
            kind="bars"
            title={charts.length === 1 ? 'Cost by day' : `Cost by day in ${currency}`}
            label={`${roughly(sum, currency)} ${between}, at most ${roughly(Math.max(...amounts), currency)} in one day`}
            days={days}
            series={[
              { name: 'Cost', colour: 'accent', values: amounts },
              {
                name: 'Before',
                colour: 'dim',
                is_before: true,
                values: days.map((_day, at) => past?.[at]?.amount ?? 0),
              },
            ]}
            format={(amount) => roughly(amount, currency)}
          />
        );
      })}
      <Text size="xs" c="dimmed" mt="xs">
        {sumOf(totals)} in whole UTC days, at the operator’s rates. “Before” is the period of the
        same length that ended on the day before.
      </Text>
    </>
  );
}
