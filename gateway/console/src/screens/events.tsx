// Events that the receiver did not accept: the reason, and how to get them again.
import { Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { call } from '../api/client';
import { FAILED, failedEventsQuery, useChange, useMay } from '../api/queries';
import type { FailedEvent } from '../api/types';
import { IfMay } from '../parts/allowed';
import { Confirm, Opens, type Closing } from '../parts/dialogs';
import { StateFilter, useFilters, useOpened } from '../parts/filters';
import { EmptyCard, Loaded, Page } from '../parts/layout';
import { agoColumn, type Column, column, Rows } from '../parts/rows';
import { State } from '../parts/values';
import { nounOf } from '../period';
import { EventDrawer, RetryButton, RetryOutcome, useRetry, type RetryOne } from './events/drawer';
import { deliveryOf, subjectOf } from './events/rules';
import { SendTestButton, SendTestOutcome, useSendTest } from './events/send-test';

/** The contact and the message of an event, for a row of the list. */
const About = ({ of: { payload } }: { of: FailedEvent }) => {
  const { contact, message_id } = subjectOf(payload);
  return (
    <>
      <Text size="sm">{contact ?? '–'}</Text>
      {message_id && (
        <Text size="xs" ff="monospace" truncate title={message_id}>
          {message_id}
        </Text>
      )}
    </>
  );
};

const columnsOf = (retry: RetryOne | undefined): Array<Column<FailedEvent>> => [
  column('Event', '1.3fr', ({ event }) => event),
  column('Recipient and message', '1.6fr', (event) => <About of={event} />, {
    from: 'wide',
    bare: true,
  }),
  column(
    'Error',
    '1.6fr',
    ({ last_error, last_http_status, attempts }) => (
      <>
        <Text size="sm">{last_error ?? last_http_status ?? 'no attempt yet'}</Text>
        <Text size="xs">{nounOf(attempts, 'attempt')}</Text>
      </>
    ),
    { from: 'middle' },
  ),
  column('State', '105px', ({ status }) => <State of={status} />, { bare: true }),
  agoColumn('Next attempt', ({ next_attempt_at }) => next_attempt_at),
  ...(retry ? [retryColumn(retry)] : []),
];

const retryColumn = (retry: RetryOne): Column<FailedEvent> => ({
  title: 'Retry',
  width: '90px',
  bare: true,
  cell: (event) => <RetryButton event={event} retry={retry} />,
});

const REFRESH_MS = 10_000;

export function Screen() {
  const [{ status }] = useFilters();
  const { opened, setOpened, close } = useOpened();
  const query = useInfiniteQuery({
    ...failedEventsQuery(status),
    refetchInterval: REFRESH_MS,
  });
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  const shown = events.find((event) => deliveryOf(event) === opened);
  const test = useSendTest();
  const retry = useRetry();
  const may = useMay();
  return (
    <Page
      title="Failed deliveries"
      description="Events that your receiver has not accepted. Each is retried over two days, then kept for 30 days."
      actions={
        <>
          <SendTestButton test={test} />
          <IfMay scope="manage">
            <Opens label="Retry all" disabled={events.length === 0}>
              {(end) => <RetryAll onClose={end} />}
            </Opens>
          </IfMay>
        </>
      }
    >
      <Stack gap="sm">
        <SendTestOutcome test={test} />
        <RetryOutcome retry={retry} />
        <StateFilter
          usual="all"
          states={{ all: 'All', retrying: 'Retrying', failed: 'Given up' }}
        />
        <Loaded query={query} what="the events">
          {() => (
            <Rows
              label="Events"
              columns={columnsOf(may('manage') ? retry : undefined)}
              rows={events}
              keyOf={deliveryOf}
              onOpen={(event) => setOpened(deliveryOf(event))}
              paging={query}
              empty={
                <EmptyCard title="No event waits">
                  Your receiver has accepted every event. Send a test event to see it answer.
                </EmptyCard>
              }
            />
          )}
        </Loaded>
      </Stack>
      {shown && <EventDrawer event={shown} onClose={close} />}
    </Page>
  );
}

function RetryAll({ onClose }: Closing) {
  const retry = useChange(
    [FAILED],
    () => call<{ queued: number }>('POST', '/v1/webhooks/retry-all'),
    onClose,
  );
  return (
    <Confirm title="Retry all events?" action="Retry all" work={retry} onClose={onClose}>
      Every event that waits is delivered again, in its original order. Your receiver should be
      reachable first: send a test event.
    </Confirm>
  );
}
