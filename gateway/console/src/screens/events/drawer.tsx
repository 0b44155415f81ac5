import { Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FailedEvent } from '../../api/types';
import { Changeable } from '../../parts/allowed';
import { Json } from '../../parts/block';
import { Panel, type Closing } from '../../parts/dialogs';
import { Facts, Section } from '../../parts/layout';
import { Failure } from '../../parts/loaded';
import { Id, State, Time } from '../../parts/values';
import { ReceiverName } from './receiver';
import { retryOf, RetryResult } from './retry';
import { subjectOf } from './rules';

/** One event: its attempts, its envelope, and a retry. */
export function EventDrawer({ event, onClose }: Closing<{ event: FailedEvent }>) {
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
            ['Event ID', <Id of="event" text={event.event_id} />],
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
        <Section title="Envelope">
          <Json value={event.payload} label="the envelope" />
        </Section>
      </Stack>
    </Panel>
  );
}
