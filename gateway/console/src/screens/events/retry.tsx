// The retry of one failed delivery: from its row and from its details.
import { Alert, Button, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client';
import type { FailedEvent } from '../../api/types';
import { Failure } from '../../parts/loaded';
import { deliveryOf, subjectOf, type Waiting } from './rules';

interface Retried {
  status: 'delivered' | 'failed' | 'retrying';
  http_status: number | null;
}

/** Posts an event once more. */
export const retryOf = ({ event_id, endpoint_id }: Waiting): Promise<Retried> =>
  call<Retried>('POST', `/v1/webhooks/retry/${event_id}`, { query: { endpoint_id } });

/** The retry from the list, which is read again afterwards. */
export function useRetry() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (event: FailedEvent) => retryOf(event),
    onSettled: () => queries.invalidateQueries({ queryKey: ['failed-events'] }),
  });
}

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
