// Delivers the events of a period again, and shows the progress.
import { Alert, Group, Progress, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import type { Replay } from '../../api/types';
import { Dialog, Opens, type Closing } from '../../parts/dialogs';
import { Failure, Loaded, WorkButton } from '../../parts/layout';
import { State } from '../../parts/values';
import { countOf } from '../../period';

interface ReplayProps {
  /** Events to choose from. */
  names: string[];
  /** Absent: the webhook address. */
  endpoint_id?: string;
}

export const ReplayEvents = (props: ReplayProps) => (
  <Opens label="Replay …">{(close) => <ReplayDialog {...props} onClose={close} />}</Opens>
);

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** In the format of the browser's field for a local time. */
const localTime = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);

const instantOf = (local: string): string | undefined =>
  local === '' ? undefined : new Date(local).toISOString();

function ReplayDialog({ names, endpoint_id, onClose }: Closing<ReplayProps>) {
  const [from, setFrom] = useState(() => localTime(new Date(Date.now() - HOUR_MS)));
  const [to, setTo] = useState('');
  const [event, setEvent] = useState<string | null>(null);
  const start = useMutation({
    mutationFn: () =>
      call<Replay>('POST', '/v1/events/replay', {
        body: { from: instantOf(from), to: instantOf(to), event: event ?? undefined, endpoint_id },
      }),
  });
  return (
    <Dialog onClose={onClose} title="Replay events">
      {start.data ? (
        <ReplayProgress replay={start.data} />
      ) : (
        <Stack>
          <Text size="sm">
            Events of this period are delivered again, also those that your receiver has accepted.
            Each keeps its <code>webhook-id</code>.
          </Text>
          <Group grow>
            <TextInput
              label="From"
              description="In your time zone"
              type="datetime-local"
              required
              value={from}
              onChange={({ currentTarget }) => setFrom(currentTarget.value)}
            />
            <TextInput
              label="To"
              description="Empty: until now"
              type="datetime-local"
              value={to}
              onChange={({ currentTarget }) => setTo(currentTarget.value)}
            />
          </Group>
          <Select
            label="Event"
            placeholder="All events"
            data={names}
            value={event}
            onChange={setEvent}
            clearable
            clearButtonProps={{ 'aria-label': 'Replay all events' }}
          />
          {start.error && <Failure error={start.error} title="No replay was started" />}
          <WorkButton w="fit-content" disabled={from === ''} work={start}>
            Replay these events
          </WorkButton>
        </Stack>
      )}
    </Dialog>
  );
}

const POLL_MS = 1_000;
const PERCENT = 100;

export function ReplayProgress({ replay: started }: { replay: Replay }) {
  const query = useQuery({
    queryKey: ['replay', started.replay_id],
    queryFn: () => call<Replay>('GET', `/v1/events/replays/${started.replay_id}`),
    initialData: started,
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? POLL_MS : false),
  });
  return (
    <Loaded query={query} what="the replay">
      {({ status, first, last, position, delivered, error }) => {
        const all = Math.max(1, last - first + 1);
        const done = status === 'completed' ? all : Math.max(0, position - first + 1);
        return (
          <Stack>
            <Group justify="space-between">
              <State of={status} />
              <Text size="sm" role="status">
                {countOf(delivered)} delivered
              </Text>
            </Group>
            <Progress
              value={(done / all) * PERCENT}
              aria-label="Progress of the replay"
              color={status === 'failed' ? 'red' : undefined}
            />
            {status === 'failed' && (
              <Alert color="red" variant="light" title="The replay ended early">
                Your receiver refused an event four times: {error}. Fix it, then replay the rest.
              </Alert>
            )}
            {status === 'running' && (
              <Text size="sm" c="dimmed">
                It goes on if you close this window.
              </Text>
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
}
