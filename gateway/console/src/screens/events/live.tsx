// The event log as it grows: the latest events, filters, and one event with every delivery attempt.
import { Anchor, Badge, Group, Select, Stack, Switch, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { LoggedEvent } from '../../api/types';
import { Card } from '../../parts/card';
import { Empty } from '../../parts/empty';
import { Failure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { Rows, type Column } from '../../parts/rows';
import { useFilters } from '../../parts/search';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { LoggedEventDrawer } from './logged';
import { Receiver } from './receiver';
import { ReplayEvents } from './replay';
import { SendTest } from './send-test';
import { useLog, type Feed } from './log';

const COLUMNS: Array<Column<LoggedEvent>> = [
  { title: 'Event', width: '1.4fr', cell: ({ event }) => event },
  { title: 'Delivery', width: '120px', cell: ({ delivery }) => <State of={delivery.status} /> },
  {
    title: 'About',
    width: '1.6fr',
    cell: ({ envelope: { data = {} } }) =>
      String(
        data['from'] ?? data['recipient'] ?? data['phone_number'] ?? data['message_id'] ?? '–',
      ),
  },
  {
    title: 'Number ID',
    width: '170px',
    cell: ({ envelope }) => envelope.phone_number_id ?? '–',
    labelled: true,
  },
  {
    title: 'Time',
    width: '220px',
    cell: ({ logged_at }) => <Time value={logged_at} as="exact" />,
    labelled: true,
  },
];

const STATES = ['pending', 'delivered', 'retrying', 'failed', 'dropped'];

export function Screen() {
  const [{ find, status, open }, setFilters] = useFilters();
  const [live, setLive] = useState(true);
  const { events, error, names, loaded, feed } = useLog(live);
  const shown = events.filter(
    ({ event, delivery }) =>
      (find === undefined || event === find) &&
      (status === undefined || delivery.status === status),
  );
  return (
    <Page
      title="Events"
      description="Everything that happened, newest first, as your receiver gets it."
      actions={
        <>
          <SendTest />
          <ReplayEvents names={names} />
        </>
      }
    >
      <Stack gap="sm">
        <Receiver events={events} />
        <Filters names={names} shown={shown.length} live={live} feed={feed} onLive={setLive} />
        {error && <Failure error={error} title="The log could not be read" />}
        {shown.length > 0 ? (
          <Rows
            label="Events"
            columns={COLUMNS}
            rows={shown}
            keyOf={({ event_id }) => event_id}
            onOpen={({ event_id }) => setFilters({ open: event_id })}
          />
        ) : (
          <Card>
            <Empty title={emptyTitle(loaded, events.length)}>
              {events.length > 0
                ? 'Change the filters above. New events that match appear here.'
                : 'Send a message, or write to one of your numbers: its events appear here.'}
            </Empty>
          </Card>
        )}
      </Stack>
      {open && (
        <LoggedEventDrawer event_id={open} onClose={() => setFilters({ open: undefined })} />
      )}
    </Page>
  );
}

const emptyTitle = (loaded: boolean, events: number): string =>
  !loaded ? 'Loading the events' : events > 0 ? 'No event matches' : 'No event yet';

const FEEDS: Record<Feed, string> = {
  paused: 'Paused',
  live: 'New events appear at once',
  reconnecting: 'Reconnecting …',
  reading: 'Read every 5 seconds',
};

interface FiltersProps {
  names: string[];
  /** How many events pass the filters. */
  shown: number;
  live: boolean;
  feed: Feed;
  onLive: (live: boolean) => void;
}

function Filters({ names, shown, live, feed, onLive }: FiltersProps) {
  const [{ find, status }, setFilters] = useFilters();
  return (
    <Group gap="sm" className="filters">
      <Select
        aria-label="Event"
        placeholder="All events"
        data={find === undefined || names.includes(find) ? names : [...names, find]}
        value={find ?? null}
        onChange={(value) => setFilters({ find: value ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Show all events' }}
      />
      <Select
        aria-label="Delivery"
        placeholder="All deliveries"
        data={STATES}
        value={status ?? null}
        onChange={(value) => setFilters({ status: value ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Show all deliveries' }}
      />
      <Switch
        label="Live"
        checked={live}
        onChange={(event) => onLive(event.currentTarget.checked)}
      />
      <Text size="sm" c="dimmed" role="status" data-testid="feed">
        {FEEDS[feed]}
      </Text>
      <Badge variant="default" tt="none" data-testid="count">
        {shown} shown
      </Badge>
      <Anchor component={Link} to="/events/failed" size="sm">
        Failed deliveries
      </Anchor>
    </Group>
  );
}
