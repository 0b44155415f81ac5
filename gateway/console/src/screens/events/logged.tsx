import { Alert, Button, Stack, Table, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { call } from '../../api/client';
import type { Attempt, LoggedEvent } from '../../api/types';
import { Changeable } from '../../parts/allowed';
import { Json } from '../../parts/block';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { Panel } from '../../parts/panel';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';

type Detail = LoggedEvent & { attempts: Attempt[] };

/** One event of the log: its envelope, and every attempt to deliver it. */
export function LoggedEventDrawer({
  event_id,
  onClose,
}: {
  event_id: string;
  onClose: () => void;
}) {
  const query = useQuery({
    queryKey: ['event', event_id],
    queryFn: () => call<Detail>('GET', `/v1/events/${event_id}`),
  });
  return (
    <Panel onClose={onClose} size="xl" title={query.data?.event ?? 'Event'}>
      <Loaded query={query} what="the event" lines={8}>
        {(event) => (
          <Stack gap="lg">
            <Facts
              of={[
                ['Delivery', <State of={event.delivery.status} />],
                [
                  'Event ID',
                  <span>
                    {event.event_id} <Copy text={event.event_id} label="Copy the event ID" />
                  </span>,
                ],
                ['Position', event.seq],
                ['Logged', <Time value={event.logged_at} as="exact" />],
                ['Business account', event.envelope.waba_id],
                ['Number ID', event.envelope.phone_number_id],
              ]}
            />
            {event.delivery.status !== 'delivered' && event.delivery.status !== 'dropped' && (
              <Changeable scope="manage">
                <Retry event_id={event_id} onDone={() => void query.refetch()} />
              </Changeable>
            )}
            <Title order={3} size="h5">
              Attempts
            </Title>
            <Attempts attempts={event.attempts} />
            <Title order={3} size="h5">
              Envelope
            </Title>
            <Json value={event.envelope} label="the envelope" />
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

function Retry({ event_id, onDone }: { event_id: string; onDone: () => void }) {
  const retry = useMutation({
    mutationFn: () => call('POST', `/v1/webhooks/retry/${event_id}`),
    onSettled: onDone,
  });
  return (
    <>
      <Button w="fit-content" loading={retry.isPending} onClick={() => retry.mutate()}>
        Retry now
      </Button>
      {retry.error && <Failure error={retry.error} title="The event was not retried" />}
    </>
  );
}

function Attempts({ attempts }: { attempts: Attempt[] }) {
  if (attempts.length === 0) return <Alert color="gray">There was no attempt yet.</Alert>;
  return (
    <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {['Time', 'Answer', 'After', 'Body'].map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {attempts.map(({ number, at, http_status, error, duration_ms, answer }) => (
            <Table.Tr key={number}>
              <Table.Td>
                <Time value={at} as="exact" />
              </Table.Td>
              <Table.Td>{error ?? `HTTP ${http_status}`}</Table.Td>
              <Table.Td>{duration_ms} ms</Table.Td>
              <Table.Td>{answer ?? '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
