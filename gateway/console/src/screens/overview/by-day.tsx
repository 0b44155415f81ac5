// The charts of the overview: messages by day beside those that were sent in the period before,
// what they cost, and the events of each day with the receiver's answers.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import {
  eventDaysQuery,
  EVENTS_SAMPLED,
  ledgerTotalsQuery,
  messageDaysQuery,
} from '../../api/queries';
import type { LedgerTotals, MessageDay } from '../../api/types';
import { countsByDay, totalsOf, type EventDay } from '../../figures';
import { costByDay, roughly, sumOf } from '../../money';
import { Chart } from '../../parts/chart';
import { Hint, Loaded } from '../../parts/layout';
import { ReceiverCharts } from '../../parts/receiver-charts';
import { countOf, dayInWords, daysOf, nounOf, periodBefore, type Days } from '../../period';

const inWords = ({ from, to }: Days): string => `from ${dayInWords(from)} to ${dayInWords(to)}`;

const SERIES = [
  { key: 'sent', name: 'Sent', colour: 'accent' },
  { key: 'delivered', name: 'Delivered', colour: 'good' },
  { key: 'read', name: 'Read', colour: 'literal' },
  { key: 'failed', name: 'Failed', colour: 'bad' },
] as const;

export const Traffic = (period: Days) => (
  <Loaded query={useQuery(messageDaysQuery)} what="the messages by day" lines={5}>
    {(rows) => <DrawnTraffic rows={rows} period={period} />}
  </Loaded>
);

function DrawnTraffic({ rows, period }: { rows: readonly MessageDay[]; period: Days }) {
  const days = countsByDay(rows, period);
  const sums = days.map(({ sent }) => sent);
  const { sent } = totalsOf(rows, period);
  return (
    <>
      <Chart
        kind="bars"
        title="Messages by day"
        label={`${countOf(sent)} messages sent ${inWords(period)}, at most ${countOf(Math.max(...sums))} in one day`}
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
      <Hint mt="xs">
        In whole UTC days. A status counts on the day on which it came. “Before” is the period of
        the same length that ended on the day before.
      </Hint>
    </>
  );
}

export function CostByDay(period: Days) {
  const earlier = periodBefore(period);
  const query = useQuery(ledgerTotalsQuery(period));
  const before = useQuery(ledgerTotalsQuery(earlier));
  return (
    <Loaded query={query} what="the cost by day" lines={5}>
      {(totals) => (
        <DrawnCost
          totals={totals}
          period={period}
          before={costByDay(before.data?.by_day ?? [], daysOf(earlier))}
        />
      )}
    </Loaded>
  );
}

interface DrawnCostProps {
  totals: LedgerTotals;
  period: Days;
  before: ReturnType<typeof costByDay>;
}

function DrawnCost({ totals, period, before }: DrawnCostProps) {
  const days = daysOf(period);
  const charts = costByDay(totals.by_day, days);
  if (charts.length === 0) {
    return <Text size="sm">No message of these days has a price: {sumOf(totals)}.</Text>;
  }
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
            label={`${roughly(sum, currency)} ${inWords(period)}, at most ${roughly(Math.max(...amounts), currency)} in one day`}
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
      <Hint mt="xs">
        {sumOf(totals)} in whole UTC days, at the operator’s rates. “Before” is the period of the
        same length that ended on the day before.
      </Hint>
    </>
  );
}

/**
 * Its reads of the event log share a budget with those of the partner's programs: they wait until
 * it is seen.
 */
export const EventDays = (period: Days) => (
  <Loaded
    query={useQuery(eventDaysQuery(period.from, period.to))}
    what="the events by day"
    lines={5}
  >
    {(days) => <DrawnEvents of={days} period={period} />}
  </Loaded>
);

function DrawnEvents({ of: read, period }: { of: EventDay[]; period: Days }) {
  const days = read.map(({ day }) => day);
  const events = read.map((one) => one.events);
  const sum = events.reduce((all, count) => all + count, 0);
  return (
    <>
      <Chart
        kind="bars"
        title="Events by day"
        label={`${nounOf(sum, 'event')} ${inWords(period)}, at most ${countOf(Math.max(...events))} in one day`}
        days={days}
        series={[{ name: 'Events', colour: 'accent', values: events }]}
        format={countOf}
      />
      <ReceiverCharts
        days={days}
        accepted={read.map(({ accepted }) => accepted)}
        answer_ms={read.map(({ answer_ms }) => answer_ms)}
        label={`The share of events that your receiver accepted ${inWords(period)}`}
      />
      <Hint mt="xs">
        In whole UTC days. Answers are those to the first {EVENTS_SAMPLED} events of a day.
      </Hint>
    </>
  );
}
