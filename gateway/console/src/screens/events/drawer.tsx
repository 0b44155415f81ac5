import { Button, Stack, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FailedEvent } from '../../api/types';
import { Changeable } from '../../parts/allowed';
import { Json } from '../../parts/block';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { Panel } from '../../parts/panel';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { ReceiverName } from './receiver-name';
import { retryOf, RetryResult } from './retry';
import { subjectOf } from './subject';

/** One event: its attempts, its envelope, and a retry. */
export function EventDrawer({ event, onClose }: { event: FailedEvent; onClose: () => void }) {
  const { contact, message_id } = subjectOf(event.payload);
  const queries = useQueryClient();
  // The list is read again when the panel closes: until then the event stays in it.
  const retry = useMutation({ mutationFn: () => retryOf(event) });
  const close = (): void => {
    onClose();
    if (retry.data) void queries.invalidateQueries({ queryKey: ['failed-events'] });
  };
  return (
    <Panel onClose={close} title={event.event}>
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
            ['Receiver', <ReceiverName endpoint_id={event.endpoint_id} />],
            ['Recipient', contact],
            ['Message ID', message_id],
            ['Attempts', event.attempts],
            ['Last attempt', <Time value={event.last_attempt_at} as="exact" />],
            ['Last answer', event.last_error ?? event.last_http_status ?? '–'],
            ['Next attempt', <Time value={event.next_attempt_at} as="exact" />],
            ['Created', <Time value={event.created_at} as="exact" />],
            ['Business account', event.waba_id],
            ['Number ID', event.phone_number_id],
          ]}
        />
        <Changeable scope="manage">
          <Button
            w="fit-content"
            loading={retry.isPending}
            disabled={retry.data?.status === 'delivered'}
            onClick={() => retry.mutate()}
          >
            Retry now
          </Button>
        </Changeable>
        {retry.error && <Failure error={retry.error} title="The event was not retried" />}
        {retry.data && <RetryResult retried={retry.data} />}
        <Title order={3} size="h5">
          Envelope
        </Title>
        <Json value={event.payload} label="the envelope" />
      </Stack>
    </Panel>
  );
}
