// The event log as it grows: the latest events, filters, and one event with every delivery attempt.
import { Anchor, Badge, Group, Select, Stack, Switch, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { IfMay } from '../../parts/allowed';
import { Card } from '../../parts/card';
import { Empty } from '../../parts/empty';
import { Failure } from '../../parts/failure';
import { NumberName } from '../../parts/number-name';
import { Page } from '../../parts/page';
import { Rows, type Column } from '../../parts/rows';
import { useFilters } from '../../parts/search';
import { State } from '../../parts/state';
import { Time, zoned } from '../../parts/time';
import { LoggedEventDrawer } from './logged';
import { Receiver } from './receiver';
import { ReplayEvents } from './replay';
import { SendTestButton, SendTestOutcome, useSendTest, useSentTests } from './send-test';
import { TEST_EVENT, withTests, type ListedEvent } from './sent-tests';
import { subjectOf } from './subject';
import { TestEventPanel } from './test-panel';
import { useLog, type Feed } from './log';

const COLUMNS: Array<Column<ListedEvent>> = [
  { title: 'Event', width: '1.4fr', cell: ({ event }) => event },
  { title: 'Delivery', width: '120px', cell: ({ delivery }) => <State of={delivery.status} /> },
  {
    title: 'About',
    from: 'middle',
    width: '1.6fr',
    cell: ({ envelope }) => {
      const { contact, message_id } = subjectOf(envelope);
      return contact ?? message_id ?? '–';
    },
  },
  {
    title: 'Number',
    from: 'wide',
    width: '150px',
    cell: ({ envelope }) => <NumberName id={envelope.phone_number_id} />,
    labelled: true,
  },
  {
    title: zoned('Time'),
    width: '130px',
    cell: ({ logged_at }) => <Time value={logged_at} as="row" />,
    labelled: true,
  },
];

const STATES = ['pending', 'delivered', 'retrying', 'failed', 'dropped'];

export function Screen() {
  const [{ find, status, open }, setFilters] = useFilters();
  const [live, setLive] = useState(true);
  const { events, error, names: logged, loaded, feed } = useLog(live);
  const test = useSendTest();
  const tests = useSentTests();
  const opened = tests.find(({ event_id }) => event_id === open);
  const names = tests.length > 0 ? [...logged, TEST_EVENT] : logged;
  const listed = withTests(events, tests);
  const shown = listed.filter(
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
          <SendTestButton test={test} />
          <IfMay scope="manage">
            <ReplayEvents names={logged} />
          </IfMay>
        </>
      }
    >
      <Stack gap="sm">
        <SendTestOutcome test={test} />
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
            <Empty title={emptyTitle(loaded, listed.length)}>
              {listed.length > 0
                ? 'Change the filters above. New events that match appear here.'
                : 'Send a message, or write to one of your numbers: its events appear here.'}
            </Empty>
          </Card>
        )}
      </Stack>
      {opened && <TestEventPanel test={opened} onClose={() => setFilters({ open: undefined })} />}
      {open && !opened && (
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
