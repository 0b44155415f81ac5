// The overview: what needs attention, key figures, and the messages and their cost by day.
import { SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode } from 'react';
import { eventFiguresQuery, messageDaysQuery, usageQuery, useMay } from '../api/queries';
import { totalsOf } from '../message-days';
import { ownCallsOf } from '../own-calls';
import { Card } from '../parts/card';
import { WhenSeen } from '../parts/chart';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { useFilters } from '../parts/search';
import {
  changeOf,
  countOf,
  percent,
  periodBefore,
  periodOf,
  PERIODS,
  type Days,
  type Period,
} from '../period';
import { NeedsAttention, useAttention } from './overview/attention';
import { Compared } from './overview/compared';

/** Below the first view, with the heights of their charts. */
const Traffic = lazy(async () => ({ default: (await import('./overview/traffic')).Traffic }));
const CostByDay = lazy(async () => ({ default: (await import('./overview/cost')).CostByDay }));
const EventDays = lazy(async () => ({
  default: (await import('./overview/event-days')).EventDays,
}));
const HEIGHTS_PX = { messages: 284, cost: 284, events: 530 };

/** Keeps the height of a line. */
const UNKNOWN = '\u00a0';

export function Screen() {
  const [{ period = 'week' }, setFilters] = useFilters();
  const may = useMay();
  const attention = useAttention();
  const days = periodOf(period);
  return (
    <Page
      title="Overview"
      actions={
        <SegmentedControl
          aria-label="Period"
          value={period}
          onChange={(value) => setFilters({ period: value as Period })}
          data={PERIODS}
        />
      }
    >
      <NeedsAttention attention={attention} />
      {/* Read at once, and shown when nothing above it moves any more. */}
      <Stack gap="lg" style={{ visibility: attention.is_known ? 'visible' : 'hidden' }}>
        <Figures {...days} />
        {period !== 'day' && (
          <ByDay
            title="Messages by day"
            height={HEIGHTS_PX.messages}
            is_moving={!attention.is_known}
          >
            <Traffic {...days} />
          </ByDay>
        )}
        {period !== 'day' && may('billing') && (
          <ByDay title="Cost by day" height={HEIGHTS_PX.cost} is_moving={!attention.is_known}>
            <CostByDay {...days} />
          </ByDay>
        )}
        <Compared {...days} />
        {period !== 'day' && (
          <ByDay title="Events by day" height={HEIGHTS_PX.events} is_moving={!attention.is_known}>
            <EventDays {...days} />
          </ByDay>
        )}
      </Stack>
    </Page>
  );
}

interface ByDayProps {
  title: string;
  height: number;
  is_moving: boolean;
  children: ReactNode;
}

const ByDay = ({ title, ...content }: ByDayProps) => (
  <Card title={title}>
    <WhenSeen {...content} />
  </Card>
);

function Figures(period: Days) {
  const may = useMay();
  const days = useQuery(messageDaysQuery);
  const calls = useQuery({ ...usageQuery(period.from, period.to), enabled: may('billing') });
  const events = useQuery(eventFiguresQuery(period.from));
  const own = calls.data && ownCallsOf(calls.data);
  const counts = days.data && totalsOf(days.data, period);
  const before = days.data && totalsOf(days.data, periodBefore(period));
  const shareOf = (count: number | undefined): string | undefined =>
    count === undefined ? undefined : `${percent(count, counts?.sent ?? 0)} of sent`;
  const { data: log } = events;
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 3 }} spacing="md">
        <Figure
          name="Sent"
          value={valueOf(days, counts?.sent)}
          note="in whole UTC days"
          before={before?.sent}
          is_compared
        />
        <Figure
          name="Delivered"
          value={valueOf(days, counts?.delivered)}
          note={shareOf(counts?.delivered)}
          before={before?.delivered}
          is_compared
        />
        <Figure
          name="Failed"
          value={valueOf(days, counts?.failed)}
          note={shareOf(counts?.failed)}
          before={before?.failed}
          is_compared
        />
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
      {[days, calls, events].map(
        (query, at) =>
          query.error && (
            <Loaded key={at} query={query as never} what="a part of the figures">
              {() => null}
            </Loaded>
          ),
      )}
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
    <Text size="xs" c="dimmed">
      {note ?? UNKNOWN}
    </Text>
    {is_compared && (
      <Text size="xs" c="dimmed">
        {typeof value === 'number' && before !== undefined
          ? [changeOf(value, before), `${countOf(before)} in the period before`]
              .filter(Boolean)
              .join(', ')
          : UNKNOWN}
      </Text>
    )}
  </Card>
);
