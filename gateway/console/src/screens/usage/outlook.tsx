// Money on the usage screen: the forecast of the month, and what the October change means for this
// partner.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ledgerTotalsQuery, noticesQuery } from '../../api/queries';
import type { LedgerTotals } from '../../api/types';
import { forecastOf, forecastPeriod, roughly, sumOf } from '../../money';
import { Card, Facts, Hint, Loaded, LoadedCard } from '../../parts/layout';
import { DataTable } from '../../parts/tables';
import { countOf, dayBefore, dayInWords, dayOf, type Days } from '../../period';

export function MonthForecast() {
  const now = new Date();
  const query = useQuery(ledgerTotalsQuery(forecastPeriod(now)));
  return (
    <LoadedCard title="This month" query={query} what="the forecast" lines={2}>
      {(totals) => <Forecasts totals={totals} now={now} />}
    </LoadedCard>
  );
}

function Forecasts({ totals, now }: { totals: LedgerTotals; now: Date }) {
  const forecasts = forecastOf(totals.by_day, now);
  if (forecasts.length === 0) {
    return (
      <Text size="sm">
        {totals.unpriced > 0
          ? 'Not known: there is no price for the messages of this month.'
          : 'Nothing was charged in the last days.'}
      </Text>
    );
  }
  return (
    <>
      <Facts
        of={forecasts.flatMap(({ currency, so_far, per_day, month }) => [
          ['So far', roughly(so_far, currency)] as const,
          ['A day, lately', roughly(per_day, currency)] as const,
          ['Forecast', `about ${roughly(month, currency)}`] as const,
        ])}
      />
      <Hint mt="xs">
        The month so far, and the mean of the last seven whole days for each day that is left.
        Messages only, without billing slots.
      </Hint>
    </>
  );
}

const CHANGE = 'service-messages-billable-2026-10-01';
const DAYS = 30;
/** The categories that the change concerns. */
const CHANGED = ['service', 'utility'];

/** The thirty days before the change beside the latest thirty since. Nothing before the change. */
export function PriceChange() {
  const effective = useQuery(noticesQuery).data?.find(({ id }) => id === CHANGE)?.effective;
  const today = dayOf(new Date());
  if (effective === undefined || today < effective) return null;
  const latest = dayBefore(Date.now(), DAYS - 1);
  const since = { from: latest > effective ? latest : effective, to: today };
  const change = Date.parse(effective);
  const before = { from: dayBefore(change, DAYS), to: dayBefore(change, 1) };
  return <Compared effective={effective} before={before} since={since} />;
}

function Compared(props: { effective: string; before: Days; since: Days }) {
  const { effective, before, since } = props;
  const past = useQuery(ledgerTotalsQuery(before));
  const now = useQuery(ledgerTotalsQuery(since));
  return (
    <Card title={`What changed for you on ${dayInWords(effective)}`}>
      <Text size="sm" mb="sm">
        Since then, messages without a template and utility templates are charged inside an open
        window too. They were free there before.
      </Text>
      <Loaded query={past} what="the days before the change" lines={2}>
        {(earlier) => (
          <Loaded query={now} what="the latest days" lines={2}>
            {(latest) => <Comparison earlier={earlier} latest={latest} />}
          </Loaded>
        )}
      </Loaded>
      <Hint mt="xs">
        {`Before: ${before.from} to ${before.to}. Now: ${since.from} to ${since.to}. Whole UTC days.`}
      </Hint>
    </Card>
  );
}

const Comparison = ({ earlier, latest }: { earlier: LedgerTotals; latest: LedgerTotals }) => (
  <DataTable
    aria-label="Charges before and since the change"
    horizontalSpacing="xs"
    rows={CHANGED}
    keyOf={(category) => category}
    columns={[
      {
        title: 'Category',
        cell: (category) => (category === 'service' ? 'without a template' : category),
      },
      {
        title: 'Before',
        cell: (category) => <Charges totals={earlier} category={category} />,
        figure: true,
      },
      {
        title: 'Now',
        cell: (category) => <Charges totals={latest} category={category} />,
        figure: true,
      },
    ]}
  />
);

function Charges({ totals, category }: { totals: LedgerTotals; category: string }) {
  const group = totals.by_category.find((one) => one.category === category);
  return (
    <>
      {group ? sumOf(group) : '–'}
      <Hint>
        {group ? `${countOf(group.charged)} of ${countOf(group.messages)} charged` : 'no message'}
      </Hint>
    </>
  );
}
