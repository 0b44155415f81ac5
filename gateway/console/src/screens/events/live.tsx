// The event log as it grows: the latest events, filters, and one event with every delivery attempt.
import { Badge, Group, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { IfMay } from '../../parts/allowed';
import { FilterSelect } from '../../parts/filter-fields';
import { useFilters, useOpened } from '../../parts/filters';
import { EmptyCard, Failure, Page, TextLink } from '../../parts/layout';
import { NumberName } from '../../parts/numbers';
import { type Column, column, Rows, timeColumn } from '../../parts/rows';
import { State } from '../../parts/values';
import { useLog, type Feed } from './log';
import { LoggedEventDrawer } from './logged';
import { Receiver } from './receiver';
import { ReplayEvents } from './replay';
import { subjectOf, TEST_EVENT, withTests, type ListedEvent } from './rules';
import {
  SendTestButton,
  SendTestOutcome,
  TestEventPanel,
  useSendTest,
  useSentTests,
} from './send-test';

const COLUMNS: Array<Column<ListedEvent>> = [
  column('Event', '1.4fr', ({ event }) => event),
  column('Delivery', '120px', ({ delivery }) => <State of={delivery.status} />, { bare: true }),
  column(
    'About',
    '1.6fr',
    ({ envelope }) => {
      const { contact, message_id } = subjectOf(envelope);
      return contact ?? message_id ?? '–';
    },
    { from: 'middle', bare: true },
  ),
  column('Number', '150px', ({ envelope }) => <NumberName id={envelope.phone_number_id} />, {
    from: 'wide',
  }),
  timeColumn('Time', ({ logged_at }) => logged_at),
];

const STATES = ['pending', 'delivered', 'retrying', 'failed', 'dropped'];

export function Screen() {
  const [{ find, status }] = useFilters();
  const { opened, setOpened, close } = useOpened();
  const [live, setLive] = useState(true);
  const { events, error, names: logged, loaded, feed } = useLog(live);
  const test = useSendTest();
  const tests = useSentTests();
  const opened_test = tests.find(({ event_id }) => event_id === opened);
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
        <LiveFilters names={names} shown={shown.length} live={live} feed={feed} onLive={setLive} />
        {error && <Failure error={error} title="The log could not be read" />}
        <Rows
          label="Events"
          columns={COLUMNS}
          rows={shown}
          keyOf={({ event_id }) => event_id}
          onOpen={({ event_id }) => setOpened(event_id)}
          empty={
            <EmptyCard title={emptyTitle(loaded, listed.length)}>
              {listed.length > 0
                ? 'Change the filters above. New events that match appear here.'
                : 'Send a message, or write to one of your numbers: its events appear here.'}
            </EmptyCard>
          }
        />
      </Stack>
      {opened_test && <TestEventPanel test={opened_test} onClose={close} />}
      {opened && !opened_test && <LoggedEventDrawer event_id={opened} onClose={close} />}
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

function LiveFilters({ names, shown, live, feed, onLive }: FiltersProps) {
  const [{ find }] = useFilters();
  return (
    <Group gap="sm" className="filters">
      <FilterSelect
        name="find"
        aria-label="Event"
        all="events"
        data={find === undefined || names.includes(find) ? names : [...names, find]}
      />
      <FilterSelect name="status" aria-label="Delivery" all="deliveries" data={STATES} />
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
      <TextLink to="/events/failed">Failed deliveries</TextLink>
    </Group>
  );
}
