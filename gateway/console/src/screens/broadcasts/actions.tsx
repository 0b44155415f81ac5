// What can be done with a broadcast: approve, pause and resume, cancel, copy, send again to the
// failed.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useDidUpdate } from '@mantine/hooks';
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { call } from '../../api/client';
import { broadcastQuery, broadcastsQuery, useAttempt } from '../../api/queries';
import type { BroadcastDetail } from '../../api/types';
import { Confirm } from '../../parts/dialogs';
import { ButtonLink, Failure } from '../../parts/layout';
import { Time } from '../../parts/values';
import { nounOf } from '../../period';
import { Approve } from './approve';
import { ResendToFailed } from './resend';
import { isPaused } from './state-of';

/** The state of a broadcast from the click until the change is made, and then. */
const CHANGES = {
  pause: { in_progress: 'pausing', done: 'paused' },
  resume: { in_progress: 'resuming', done: 'resumed' },
  cancel: { in_progress: 'cancelling', done: 'cancelled' },
} as const;
type Change = keyof typeof CHANGES;

/** Messages in flight are still counted after a pause: most for about a second. */
const STILL_MS = 1_000;
const READS_MAX = 5;

export type BroadcastChange = ReturnType<typeof useBroadcastChange>;

export function useBroadcastChange(id: number) {
  const queries = useQueryClient();
  return useAttempt([broadcastQuery(id), broadcastsQuery], async (change: Change) => {
    await call('POST', `/v1/broadcasts/${id}/${change}`);
    if (change === 'pause') await untilStill(queries, id);
  });
}

/** Undefined while no change is in progress. */
export const changingState = ({ isPending, variables }: BroadcastChange) =>
  isPending && variables ? CHANGES[variables].in_progress : undefined;

/** Reads a paused broadcast until its counters stand still. */
async function untilStill(queries: QueryClient, id: number): Promise<void> {
  let before: string | undefined;
  for (let read = 0; read < READS_MAX; read += 1) {
    const { broadcast } = await queries.fetchQuery({ ...broadcastQuery(id), staleTime: 0 });
    const counters = `${broadcast.sent}/${broadcast.failed}`;
    if (counters === before) return;
    before = counters;
    await new Promise((resolve) => setTimeout(resolve, STILL_MS));
  }
}

interface ActionsProps {
  broadcast: BroadcastDetail;
  change: BroadcastChange;
}

export function Actions({ broadcast, change }: ActionsProps) {
  const waits = broadcast.status === 'pending' || broadcast.status === 'scheduled';
  // A click while a change is in progress does nothing.
  const start = (wanted: Change): void => {
    if (!change.isPending) change.mutate(wanted);
  };
  const is_pausing = changingState(change) === 'pausing';
  const is_sending = broadcast.status === 'processing' && !isPaused(broadcast);
  return (
    <Stack gap="xs">
      <Approve broadcast={broadcast} />
      <Group gap="xs">
        <ButtonLink
          to="/broadcasts/new"
          search={{ copy: broadcast.id, number: broadcast.phone_number_id }}
        >
          Copy
        </ButtonLink>
        <ResendToFailed broadcast={broadcast} />
        {waits && <Cancel broadcast={broadcast} change={change} start={start} />}
        {(is_sending || is_pausing) && (
          // The last one, so that nothing takes its place: a further click does nothing.
          <Button variant="default" loading={is_pausing} onClick={() => start('pause')}>
            Pause
          </Button>
        )}
      </Group>
      {broadcast.status === 'processing' && (
        <Sending broadcast={broadcast} change={change} start={start} />
      )}
      {change.error && (
        <Failure
          error={change.error}
          title={`The broadcast was not ${CHANGES[change.variables as Change].done}`}
        />
      )}
    </Stack>
  );
}

type ChangeProps = ActionsProps & { start: (wanted: Change) => void };

/** How it is being sent. The line takes the focus of a button that a change has removed. */
function Sending({ broadcast, change, start }: ChangeProps) {
  const line = useRef<HTMLDivElement>(null);
  const in_progress = changingState(change);
  const paused = isPaused(broadcast) && in_progress !== 'pausing';
  useDidUpdate(() => {
    if (document.activeElement === document.body) line.current?.focus();
  }, [paused]);
  return (
    <>
      <Text
        ref={line}
        component="div"
        size="sm"
        role="status"
        tabIndex={-1}
        className="focused-content"
      >
        {lineOf(broadcast, in_progress)}
      </Text>
      {paused && (
        <Group gap="xs">
          <Button loading={in_progress === 'resuming'} onClick={() => start('resume')}>
            Resume
          </Button>
          <Cancel broadcast={broadcast} change={change} start={start} />
        </Group>
      )}
    </>
  );
}

function lineOf(broadcast: BroadcastDetail, in_progress: string | undefined): ReactNode {
  if (in_progress === 'pausing') return 'Pausing … Messages in flight are still completed.';
  if (in_progress === 'resuming') return 'Resuming …';
  if (!isPaused(broadcast)) return 'It is being sent. A pause stops it within about a second.';
  const left = leftOf(broadcast);
  return (
    <>
      Paused: {nounOf(left, 'contact')} {left === 1 ? 'waits' : 'wait'}. It is cancelled on{' '}
      <Time value={broadcast.pause_ends_at} /> unless it is resumed.
    </>
  );
}

const leftOf = ({ total, sent, failed }: BroadcastDetail): number => total - sent - failed;

/** Before the start nothing is lost; a paused broadcast needs a confirmation. */
function Cancel({ broadcast, change, start }: ChangeProps) {
  const [asking, setAsking] = useState(false);
  const left = leftOf(broadcast);
  return (
    <>
      <Button
        color="red"
        variant="light"
        loading={changingState(change) === 'cancelling'}
        onClick={() => (isPaused(broadcast) ? setAsking(true) : start('cancel'))}
      >
        Cancel the broadcast
      </Button>
      {asking && (
        <Confirm
          title={`Cancel ${broadcast.name}?`}
          action="Cancel the broadcast"
          work={{
            isPending: change.isPending,
            error: null,
            mutate: () => change.mutate('cancel', { onSettled: () => setAsking(false) }),
          }}
          onClose={() => setAsking(false)}
        >
          {nounOf(left, 'contact')} {left === 1 ? 'has' : 'have'} no message yet and will get none.
          It cannot be resumed afterwards.
        </Confirm>
      )}
    </>
  );
}
