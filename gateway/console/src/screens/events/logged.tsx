// One event of the log, as one of its receivers gets it or as all do.
import { Alert, Button, Code, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client';
import type { Attempt, LoggedEvent, Replay } from '../../api/types';
import { Changeable } from '../../parts/allowed';
import { Json } from '../../parts/block';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { Panel } from '../../parts/panel';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { countOf } from '../../period';
import { answerOf, isAccepted, stateOf } from './attempts';
import { ReceiverName } from './receiver-name';
import { ReplayProgress } from './replay';
import { retryOf, RetryResult } from './retry';

type Detail = LoggedEvent & { attempts: Attempt[] };

interface LoggedEventDrawerProps {
  event_id: string;
  /** The endpoint whose attempts are shown. Null: the webhook address; absent: all receivers. */
  endpoint_id?: string | null;
  onClose: () => void;
}

/** Its envelope, and every attempt to deliver it. */
export function LoggedEventDrawer({ event_id, endpoint_id, onClose }: LoggedEventDrawerProps) {
  const query = useQuery({
    queryKey: ['event', event_id],
    queryFn: () => call<Detail>('GET', `/v1/events/${event_id}`),
  });
  return (
    <Panel onClose={onClose} size="xl" title={query.data?.event ?? 'Event'}>
      <Loaded query={query} what="the event" lines={8}>
        {(event) => <LoggedEventDetails event={event} endpoint_id={endpoint_id} />}
      </Loaded>
    </Panel>
  );
}

interface DetailsProps {
  event: Detail;
  endpoint_id: string | null | undefined;
}

function LoggedEventDetails({ event, endpoint_id }: DetailsProps) {
  const { event_id, delivery, envelope } = event;
  const attempts = event.attempts.filter(
    (one) => endpoint_id === undefined || one.endpoint_id === endpoint_id,
  );
  const state = endpoint_id ? stateOf(attempts) : delivery.status;
  const Send = state === 'delivered' || state === null ? Redeliver : Retry;
  return (
    <Stack gap="lg">
      <Facts
        of={[
          ['Delivery', <State of={state} />],
          [
            'Event ID',
            <span>
              {event_id} <Copy text={event_id} label="Copy the event ID" />
            </span>,
          ],
          ['Position', event.seq],
          ['Logged', <Time value={event.logged_at} as="exact" />],
          ['Business account', envelope.waba_id],
          ['Number ID', envelope.phone_number_id],
        ]}
      />
      {state !== 'dropped' && (
        <Changeable scope="manage">
          <Send event_id={event_id} endpoint_id={endpoint_id ?? null} />
        </Changeable>
      )}
      <Title order={3} size="h5">
        Attempts
      </Title>
      <Attempts attempts={attempts} with_receiver={endpoint_id === undefined} />
      <Title order={3} size="h5">
        Envelope
      </Title>
      <Json value={envelope} label="the envelope" />
    </Stack>
  );
}

interface DeliveryProps {
  event_id: string;
  endpoint_id: string | null;
}

/** Attempts a delivery that waits, or was given up. */
function Retry(delivery: DeliveryProps) {
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => retryOf(delivery),
    onSettled: () => queries.invalidateQueries({ queryKey: ['event', delivery.event_id] }),
  });
  return (
    <>
      <Button w="fit-content" loading={retry.isPending} onClick={() => retry.mutate()}>
        Retry now
      </Button>
      {retry.error && <Failure error={retry.error} title="The event was not retried" />}
      {retry.data && <RetryResult retried={retry.data} />}
    </>
  );
}

/** Delivers again what was accepted. */
function Redeliver({ event_id, endpoint_id }: DeliveryProps) {
  const replay = useMutation({
    mutationFn: () =>
      call<Replay>('POST', '/v1/events/replay', {
        body: { event_ids: [event_id], endpoint_id: endpoint_id ?? undefined },
      }),
  });
  return (
    <>
      <Button
        variant="default"
        w="fit-content"
        loading={replay.isPending}
        onClick={() => replay.mutate()}
      >
        Deliver again
      </Button>
      {replay.error && <Failure error={replay.error} title="The event was not delivered again" />}
      {replay.data && <ReplayProgress replay={replay.data} />}
    </>
  );
}

interface AttemptsProps {
  attempts: Attempt[];
  with_receiver: boolean;
}

function Attempts({ attempts, with_receiver }: AttemptsProps) {
  if (attempts.length === 0) return <Alert color="gray">There was no attempt yet.</Alert>;
  return (
    <ol className="recipients" aria-label="Attempts">
      {attempts.map((one) => (
        <li key={`${one.endpoint_id}/${one.number}/${one.at}`}>
          <State of={isAccepted(one) ? 'delivered' : 'failed'} />
          <Text span size="sm">
            {`${answerOf(one)} after ${countOf(one.duration_ms)} ms`}
          </Text>
          <Text span size="sm">
            <Time value={one.at} as="exact" />
          </Text>
          <Facts
            of={[
              ['Receiver', with_receiver ? <ReceiverName endpoint_id={one.endpoint_id} /> : null],
              ['Posted to', one.url],
              ['Signed with', one.secret && `the secret whose SHA-256 begins with ${one.secret}`],
              ['Answer', one.answer && <Code className="breaks">{one.answer}</Code>],
            ]}
          />
        </li>
      ))}
    </ol>
  );
}
