// Events that the receiver did not accept: the reason, and how to get them again.
import { Button, SegmentedControl, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import { failedEventsQuery, useMay } from '../api/queries';
import type { FailedEvent } from '../api/types';
import { IfMay } from '../parts/allowed';
import { Card } from '../parts/card';
import { Confirm } from '../parts/confirm';
import { Empty } from '../parts/empty';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { Rows, type Column } from '../parts/rows';
import { useFilters } from '../parts/search';
import { State } from '../parts/state';
import { Time } from '../parts/time';
import { nounOf } from '../period';
import { deliveryOf } from './events/attempts';
import { EventDrawer } from './events/drawer';
import { RetryButton, RetryOutcome, useRetry, type RetryOne } from './events/retry';
import { SendTestButton, SendTestOutcome, useSendTest } from './events/send-test';
import { subjectOf } from './events/subject';

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
  { title: 'Event', width: '1.3fr', cell: ({ event }) => event },
  {
    title: 'Recipient and message',
    from: 'wide',
    width: '1.6fr',
    cell: (event) => <About of={event} />,
  },
  {
    title: 'Error',
    from: 'middle',
    width: '1.6fr',
    cell: ({ last_error, last_http_status, attempts }) => (
      <>
        <Text size="sm">{last_error ?? last_http_status ?? 'no attempt yet'}</Text>
        <Text size="xs">{nounOf(attempts, 'attempt')}</Text>
      </>
    ),
    labelled: true,
  },
  { title: 'State', width: '105px', cell: ({ status }) => <State of={status} /> },
  {
    title: 'Next attempt',
    width: '110px',
    cell: ({ next_attempt_at }) => <Time value={next_attempt_at} as="ago" />,
    labelled: true,
  },
  ...(retry
    ? [
        {
          title: 'Retry',
          width: '90px',
          cell: (event: FailedEvent) => <RetryButton event={event} retry={retry} />,
        },
      ]
    : []),
];

const REFRESH_MS = 10_000;

export function Screen() {
  const [{ status, open }, setFilters] = useFilters();
  const query = useInfiniteQuery({
    ...failedEventsQuery(status),
    refetchInterval: REFRESH_MS,
  });
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  const shown = events.find((event) => deliveryOf(event) === open);
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
            <RetryAll disabled={events.length === 0} />
          </IfMay>
        </>
      }
    >
      <Stack gap="sm">
        <SendTestOutcome test={test} />
        <RetryOutcome retry={retry} />
        <SegmentedControl
          aria-label="State"
          w="fit-content"
          value={status ?? 'all'}
          onChange={(value) => setFilters({ status: value === 'all' ? undefined : value })}
          data={[
            { value: 'all', label: 'All' },
            { value: 'retrying', label: 'Retrying' },
            { value: 'failed', label: 'Given up' },
          ]}
        />
        <Loaded query={query as never} what="the events">
          {() =>
            events.length > 0 ? (
              <Rows
                label="Events"
                columns={columnsOf(may('manage') ? retry : undefined)}
                rows={events}
                keyOf={deliveryOf}
                onOpen={(event) => setFilters({ open: deliveryOf(event) })}
                onEnd={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
              />
            ) : (
              <Card>
                <Empty title="No event waits">
                  Your receiver has accepted every event. Send a test event to see it answer.
                </Empty>
              </Card>
            )
          }
        </Loaded>
      </Stack>
      {shown && <EventDrawer event={shown} onClose={() => setFilters({ open: undefined })} />}
    </Page>
  );
}

function RetryAll({ disabled }: { disabled: boolean }) {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => call<{ queued: number }>('POST', '/v1/webhooks/retry-all'),
    onSuccess: () => {
      setAsking(false);
      return queries.invalidateQueries({ queryKey: ['failed-events'] });
    },
  });
  return (
    <>
      <Button variant="default" disabled={disabled} onClick={() => setAsking(true)}>
        Retry all
      </Button>
      {asking && (
        <Confirm
          title="Retry all events?"
          action="Retry all"
          pending={retry.isPending}
          error={retry.error}
          onConfirm={() => retry.mutate()}
          onClose={() => setAsking(false)}
        >
          Every event that waits is delivered again, in its original order. Your receiver should be
          reachable first: send a test event.
        </Confirm>
      )}
    </>
  );
}
