// A failed delivery: its details, and its retry from there and from its row.
import { Alert, Button, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client';
import { FAILED, useAttempt } from '../../api/queries';
import type { FailedEvent } from '../../api/types';
import { Changeable } from '../../parts/allowed';
import { Panel, type Closing } from '../../parts/dialogs';
import { Facts, Failure, Section, WorkButton } from '../../parts/layout';
import { Id, Json, State, Time } from '../../parts/values';
import { ReceiverName } from './receiver';
import { deliveryOf, subjectOf, type Waiting } from './rules';

interface Retried {
  status: 'delivered' | 'failed' | 'retrying';
  http_status: number | null;
}

/** Posts an event once more. */
export const retryOf = ({ event_id, endpoint_id }: Waiting): Promise<Retried> =>
  call<Retried>('POST', `/v1/webhooks/retry/${event_id}`, { query: { endpoint_id } });

/** The retry from the list, which is read again afterwards. */
export const useRetry = () => useAttempt([FAILED], (event: FailedEvent) => retryOf(event));

export type RetryOne = ReturnType<typeof useRetry>;

/** `message.received of 15550100777` */
const nameOf = ({ event, event_id, payload }: FailedEvent): string =>
  `${event} of ${subjectOf(payload).contact ?? event_id}`;

export function RetryButton({ event, retry }: { event: FailedEvent; retry: RetryOne }) {
  const is_this =
    retry.variables !== undefined && deliveryOf(retry.variables) === deliveryOf(event);
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`Retry for ${subjectOf(event.payload).contact ?? event.event_id}`}
      loading={retry.isPending && is_this}
      disabled={retry.isPending && !is_this}
      onClick={() => retry.mutate(event)}
    >
      Retry
    </Button>
  );
}

/** What the receiver answered to the latest retry of the list. */
export function RetryOutcome({ retry }: { retry: RetryOne }) {
  const { variables: event, data, error } = retry;
  if (!event) return null;
  if (error) return <Failure error={error} title={`${nameOf(event)} was not retried`} />;
  return data ? <RetryResult retried={data} of={nameOf(event)} /> : null;
}

export function RetryResult({ retried, of }: { retried: Retried; of?: string }) {
  const { status, http_status } = retried;
  const is_delivered = status === 'delivered';
  return (
    <Alert
      role="status"
      variant="light"
      color={is_delivered ? 'green' : 'red'}
      title={is_delivered ? 'Your receiver accepted the event' : 'The event was not accepted'}
    >
      <Text size="sm">
        {of && `${of}: `}
        {http_status === null ? 'The receiver did not answer.' : `It answered HTTP ${http_status}.`}
      </Text>
    </Alert>
  );
}

/** One event: its attempts, its envelope, and a retry. */
export function EventDrawer({ event, onClose }: Closing<{ event: FailedEvent }>) {
  const { contact, message_id } = subjectOf(event.payload);
  const queries = useQueryClient();
  // The list is read again when the panel closes: until then the event stays in it.
  const retry = useMutation({ mutationFn: () => retryOf(event) });
  const close = (): void => {
    onClose();
    if (retry.data) void queries.invalidateQueries(FAILED);
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
          <WorkButton w="fit-content" work={retry} disabled={retry.data?.status === 'delivered'}>
            Retry now
          </WorkButton>
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
