// The overview: what needs attention, key figures, and the messages and their cost by day.
import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy } from 'react';
import { eventFiguresQuery, messageDaysQuery, usageQuery, useMay } from '../api/queries';
import { ownCallsOf, totalsOf } from '../figures';
import { WhenSeen } from '../parts/chart';
import { PeriodFilter, useFilters } from '../parts/filters';
import { Card, FailuresOf, Hint, Page } from '../parts/layout';
import { changeOf, countOf, percent, periodBefore, periodOf, type Days } from '../period';
import { NeedsAttention, useAttention } from './overview/attention';
import { Compared } from './overview/compared';

/** Below the first view, with the height of its chart. */
const byDay = (name: 'Traffic' | 'CostByDay' | 'EventDays', title: string, height: number) => {
  const Content = lazy(async () => ({ default: (await import('./overview/by-day'))[name] }));
  return ({ is_moving, ...days }: Days & { is_moving: boolean }) => (
    <Card title={title}>
      <WhenSeen height={height} is_moving={is_moving}>
        <Content {...days} />
      </WhenSeen>
    </Card>
  );
};
const Traffic = byDay('Traffic', 'Messages by day', 284);
const CostByDay = byDay('CostByDay', 'Cost by day', 284);
const EventDays = byDay('EventDays', 'Events by day', 530);

/** Keeps the height of a line. */
const UNKNOWN = '\u00a0';

export function Screen() {
  const [{ period = 'week' }] = useFilters();
  const may = useMay();
  const attention = useAttention();
  const days = periodOf(period);
  const has_days = period !== 'day';
  const is_moving = !attention.is_known;
  return (
    <Page title="Overview" actions={<PeriodFilter period={period} />}>
      <NeedsAttention attention={attention} />
      {/* Read at once, and shown when nothing above it moves any more. */}
      <Stack gap="lg" style={{ visibility: is_moving ? 'hidden' : 'visible' }}>
        <Figures {...days} />
        {has_days && <Traffic {...days} is_moving={is_moving} />}
        {has_days && may('billing') && <CostByDay {...days} is_moving={is_moving} />}
        <Compared {...days} />
        {has_days && <EventDays {...days} is_moving={is_moving} />}
      </Stack>
    </Page>
  );
}

const COUNTS = [
  { name: 'Sent', count: 'sent' },
  { name: 'Delivered', count: 'delivered' },
  { name: 'Failed', count: 'failed' },
] as const;

function Figures(period: Days) {
  const may = useMay();
  const days = useQuery(messageDaysQuery);
  const calls = useQuery({ ...usageQuery(period), enabled: may('billing') });
  const events = useQuery(eventFiguresQuery(period.from));
  const own = calls.data && ownCallsOf(calls.data);
  const counts = days.data && totalsOf(days.data, period);
  const before = days.data && totalsOf(days.data, periodBefore(period));
  const { data: log } = events;
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 3 }} spacing="md">
        {COUNTS.map(({ name, count }) => (
          <Figure
            key={name}
            name={name}
            value={valueOf(days, counts?.[count])}
            note={
              count === 'sent'
                ? 'in whole UTC days'
                : counts && `${percent(counts[count], counts.sent)} of sent`
            }
            before={before?.[count]}
            is_compared
          />
        ))}
        {may('billing') && (
          <Figure
            name="API calls"
            value={valueOf(calls, own?.calls)}
            note={own && `${percent(own.errors, own.calls)} with an error`}
          />
        )}
        <Figure name="Events" value={valueOf(events, log?.events)} note="in your log" />
        <Figure
          name="Accepted by your webhook"
          value={valueOf(events, log && percent(log.delivered, log.attempted))}
          note={
            log &&
            (log.attempted > 0
              ? `of the latest ${countOf(log.attempted)} events`
              : 'none was sent yet')
          }
        />
      </SimpleGrid>
      <FailuresOf queries={[days, calls, events]} what="a part of the figures" />
    </>
  );
}

/** A figure that could not be read is a dash; one that is being read is undefined. */
const valueOf = (
  { error }: { error: unknown },
  value: number | string | undefined,
): number | string | undefined => value ?? (error ? '–' : undefined);

interface FigureProps {
  name: string;
  /** Undefined until they are known: their places are kept. */
  value: number | string | undefined;
  note: string | undefined;
  /** The count of the period before. */
  before?: number | undefined;
  is_compared?: boolean;
}

const Figure = ({ name, value, note, before, is_compared }: FigureProps) => (
  <Card>
    <Text size="sm" c="dimmed">
      {name}
    </Text>
    <Text fz={30} fw={650} lh={1.2} aria-busy={value === undefined}>
      {typeof value === 'number' ? countOf(value) : (value ?? UNKNOWN)}
    </Text>
    <Hint>{note ?? UNKNOWN}</Hint>
    {is_compared && (
      <Hint>
        {typeof value === 'number' && before !== undefined
          ? [changeOf(value, before), `${countOf(before)} in the period before`]
              .filter(Boolean)
              .join(', ')
          : UNKNOWN}
      </Hint>
    )}
  </Card>
);
