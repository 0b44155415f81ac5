// One event of the log, as one of its receivers gets it or as all do.
import { Alert, Code, Stack, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { call } from '../../api/client';
import { useAttempt } from '../../api/queries';
import type { Attempt, LoggedEvent, Replay } from '../../api/types';
import { Changeable } from '../../parts/allowed';
import { Panel, type Closing } from '../../parts/dialogs';
import { Facts, Failure, Loaded, Section, WorkButton } from '../../parts/layout';
import { Id, Json, State, Time } from '../../parts/values';
import { countOf } from '../../period';
import { ReceiverName } from './receiver';
import { ReplayProgress } from './replay';
import { retryOf, RetryResult } from './drawer';
import { answerOf, isAccepted, stateOf, type Waiting } from './rules';

type Detail = LoggedEvent & { attempts: Attempt[] };

const detailQuery = (event_id: string) =>
  queryOptions({
    queryKey: ['event', event_id],
    queryFn: () => call<Detail>('GET', `/v1/events/${event_id}`),
  });

/** `endpoint_id`: whose attempts are shown. Null: the webhook address; absent: all receivers. */
type LoggedEventDrawerProps = Closing<{ event_id: string; endpoint_id?: string | null }>;

/** Its envelope, and every attempt to deliver it. */
export function LoggedEventDrawer({ event_id, endpoint_id, onClose }: LoggedEventDrawerProps) {
  const query = useQuery(detailQuery(event_id));
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
          ['Event ID', <Id of="event" text={event_id} />],
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
      <Section title="Attempts">
        <Attempts attempts={attempts} with_receiver={endpoint_id === undefined} />
      </Section>
      <Section title="Envelope">
        <Json value={envelope} label="the envelope" />
      </Section>
    </Stack>
  );
}

/** Attempts a delivery that waits, or was given up. */
function Retry(delivery: Waiting) {
  const retry = useAttempt([detailQuery(delivery.event_id)], () => retryOf(delivery));
  return (
    <>
      <WorkButton w="fit-content" work={retry}>
        Retry now
      </WorkButton>
      {retry.error && <Failure error={retry.error} title="The event was not retried" />}
      {retry.data && <RetryResult retried={retry.data} />}
    </>
  );
}

/** Delivers again what was accepted. */
function Redeliver({ event_id, endpoint_id }: Waiting) {
  const replay = useMutation({
    mutationFn: () =>
      call<Replay>('POST', '/v1/events/replay', {
        body: { event_ids: [event_id], endpoint_id: endpoint_id ?? undefined },
      }),
  });
  return (
    <>
      <WorkButton variant="default" w="fit-content" work={replay}>
        Deliver again
      </WorkButton>
      {replay.error && <Failure error={replay.error} title="The event was not delivered again" />}
      {replay.data && <ReplayProgress replay={replay.data} />}
    </>
  );
}

function Attempts({ attempts, with_receiver }: { attempts: Attempt[]; with_receiver: boolean }) {
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
