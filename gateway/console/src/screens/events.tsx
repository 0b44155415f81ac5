// Events that the receiver did not accept: the reason, and how to get them again.
import { Button, SegmentedControl, Stack } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import { failedEventsQuery } from '../api/queries';
import type { FailedEvent } from '../api/types';
import { Card } from '../parts/card';
import { Confirm } from '../parts/confirm';
import { Empty } from '../parts/empty';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { Rows, type Column } from '../parts/rows';
import { useFilters } from '../parts/search';
import { State } from '../parts/state';
import { Time } from '../parts/time';
import { EventDrawer } from './events/drawer';
import { SendTest } from './events/send-test';

const COLUMNS: Array<Column<FailedEvent>> = [
  { title: 'Event', width: '1.4fr', cell: ({ event }) => event },
  { title: 'State', width: '110px', cell: ({ status }) => <State of={status} /> },
  {
    title: 'Last answer',
    width: '1.4fr',
    cell: ({ last_error, last_http_status }) => last_error ?? last_http_status ?? '–',
    labelled: true,
  },
  { title: 'Attempts', width: '80px', cell: ({ attempts }) => attempts, labelled: true },
  {
    title: 'Created',
    width: '140px',
    cell: ({ created_at }) => <Time value={created_at} />,
    labelled: true,
  },
  {
    title: 'Next attempt',
    width: '130px',
    cell: ({ next_attempt_at }) => <Time value={next_attempt_at} as="ago" />,
    labelled: true,
  },
];

const REFRESH_MS = 10_000;

export function Screen() {
  const [{ status, open }, setFilters] = useFilters();
  const query = useInfiniteQuery({
    ...failedEventsQuery(status),
    refetchInterval: REFRESH_MS,
  });
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  const shown = events.find(({ event_id }) => event_id === open);
  return (
    <Page
      title="Failed deliveries"
      description="Events that your receiver has not accepted. Each is retried over two days, then kept for 30 days."
      actions={
        <>
          <SendTest />
          <RetryAll disabled={events.length === 0} />
        </>
      }
    >
      <Stack gap="sm">
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
                columns={COLUMNS}
                rows={events}
                keyOf={({ event_id }) => event_id}
                onOpen={({ event_id }) => setFilters({ open: event_id })}
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
