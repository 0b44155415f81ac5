import { Alert, Button, Drawer, Stack, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client';
import type { FailedEvent } from '../../api/types';
import { Json } from '../../parts/block';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';

interface Retried {
  status: 'delivered' | 'failed' | 'retrying';
  http_status: number | null;
}

/** One event: its attempts, its envelope, and a retry. */
export function EventDrawer({ event, onClose }: { event: FailedEvent; onClose: () => void }) {
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => call<Retried>('POST', `/v1/webhooks/retry/${event.event_id}`),
  });
  const close = (): void => {
    onClose();
    if (retry.data) void queries.invalidateQueries({ queryKey: ['failed-events'] });
  };
  return (
    <Drawer opened onClose={close} position="right" size="lg" title={event.event}>
      <Stack gap="lg">
        <Facts
          of={[
            ['State', <State of={retry.data?.status ?? event.status} />],
            [
              'Event ID',
              <span>
                {event.event_id} <Copy text={event.event_id} label="Copy the event ID" />
              </span>,
            ],
            ['Attempts', event.attempts],
            ['Last attempt', <Time value={event.last_attempt_at} as="exact" />],
            ['Last answer', event.last_error ?? event.last_http_status ?? '–'],
            ['Next attempt', <Time value={event.next_attempt_at} as="exact" />],
            ['Created', <Time value={event.created_at} as="exact" />],
            ['Business account', event.waba_id],
            ['Number ID', event.phone_number_id],
          ]}
        />
        <Button
          w="fit-content"
          loading={retry.isPending}
          disabled={retry.data?.status === 'delivered'}
          onClick={() => retry.mutate()}
        >
          Retry now
        </Button>
        {retry.error && <Failure error={retry.error} title="The event was not retried" />}
        {retry.data && <RetryResult retried={retry.data} />}
        <Title order={3} size="h5">
          Envelope
        </Title>
        <Json value={event.payload} label="the envelope" />
      </Stack>
    </Drawer>
  );
}

const RetryResult = ({ retried: { status, http_status } }: { retried: Retried }) => (
  <Alert
    role="status"
    color={status === 'delivered' ? 'green' : 'red'}
    title={
      status === 'delivered' ? 'Your receiver accepted the event' : 'The event was not accepted'
    }
  >
    {http_status === null ? 'The receiver did not answer.' : `It answered HTTP ${http_status}.`}
  </Alert>
);
