// The overview: what needs attention, key figures, and the messages and their cost by day.
import { SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { lazy, type ReactNode } from 'react';
import { eventFiguresQuery, usageQuery, useMay } from '../api/queries';
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
  type Period,
} from '../period';
import { totalsOf } from '../totals';
import { NeedsAttention } from './overview/attention';
import { Compared } from './overview/compared';

/** Below the first view, with the heights of their charts. */
const Traffic = lazy(async () => ({ default: (await import('./overview/traffic')).Traffic }));
const CostByDay = lazy(async () => ({ default: (await import('./overview/cost')).CostByDay }));
const EventDays = lazy(async () => ({
  default: (await import('./overview/event-days')).EventDays,
}));
const HEIGHTS_PX = { messages: 284, cost: 284, events: 530 };

export function Screen() {
  const [{ period = 'week' }, setFilters] = useFilters();
  const may = useMay();
  if (!may('read')) return <Navigate to="/usage" />;
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
      <NeedsAttention />
      {may('billing') && (
        <>
          <Figures period={period} />
          {period !== 'day' && (
            <>
              <ByDay title="Messages by day" height={HEIGHTS_PX.messages}>
                <Traffic {...periodOf(period)} />
              </ByDay>
              <ByDay title="Cost by day" height={HEIGHTS_PX.cost}>
                <CostByDay {...periodOf(period)} />
              </ByDay>
            </>
          )}
          <Compared {...periodOf(period)} />
        </>
      )}
      {period !== 'day' && (
        <ByDay title="Events by day" height={HEIGHTS_PX.events}>
          <EventDays {...periodOf(period)} />
        </ByDay>
      )}
    </Page>
  );
}

const ByDay = ({ title, ...content }: { title: string; height: number; children: ReactNode }) => (
  <Card title={title}>
    <WhenSeen {...content} />
  </Card>
);

function Figures({ period }: { period: Period }) {
  const { from, to } = periodOf(period);
  const query = useQuery({ ...usageQuery(from, to), placeholderData: (before) => before });
  const earlier = periodBefore({ from, to });
  const past = useQuery(usageQuery(earlier.from, earlier.to)).data;
  return (
    <Loaded query={query} what="the figures" lines={3}>
      {(usage) => {
        const totals = totalsOf(usage);
        const before = past && totalsOf(past);
        const { calls, errors } = ownCallsOf(usage);
        return (
          <SimpleGrid cols={{ base: 2, md: 3 }} spacing="md">
            <Figure
              name="Sent"
              value={totals.sent}
              note={`${countOf(totals.billable)} billable`}
              before={before?.sent}
            />
            <Figure
              name="Delivered"
              value={totals.delivered}
              note={`${percent(totals.delivered, totals.sent)} of sent`}
              before={before?.delivered}
            />
            <Figure
              name="Failed"
              value={totals.failed}
              note={`${percent(totals.failed, totals.sent)} of sent`}
              before={before?.failed}
            />
            <Figure
              name="API calls"
              value={calls}
              note={`${percent(errors, calls)} with an error`}
            />
            <EventFigures from={from} />
          </SimpleGrid>
        );
      }}
    </Loaded>
  );
}

function EventFigures({ from }: { from: string }) {
  const query = useQuery({ ...eventFiguresQuery(from), placeholderData: (before) => before });
  return (
    <Loaded query={query} what="the figures of events" lines={1}>
      {({ events, attempted, delivered }) => (
        <>
          <Figure name="Events" value={events} note="in your log" />
          <Figure
            name="Accepted by your webhook"
            value={percent(delivered, attempted)}
            note={
              attempted > 0 ? `of the latest ${countOf(attempted)} events` : 'none was sent yet'
            }
          />
        </>
      )}
    </Loaded>
  );
}

interface FigureProps {
  name: string;
  value: number | string;
  note: string;
  /** The count of the period before. */
  before?: number | undefined;
}

const Figure = ({ name, value, note, before }: FigureProps) => (
  <Card>
    <Text size="sm" c="dimmed">
      {name}
    </Text>
    <Text fz={30} fw={650} lh={1.2}>
      {typeof value === 'number' ? countOf(value) : value}
    </Text>
    <Text size="xs" c="dimmed">
      {note}
    </Text>
    {typeof value === 'number' && before !== undefined && (
      <Text size="xs" c="dimmed">
        {[changeOf(value, before), `${countOf(before)} in the period before`]
          .filter(Boolean)
          .join(', ')}
      </Text>
    )}
  </Card>
);
