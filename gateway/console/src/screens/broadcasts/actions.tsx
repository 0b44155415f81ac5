// What can be done with a broadcast: approve, pause and resume, cancel, copy, send again to the
// failed.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client';
import type { BroadcastDetail } from '../../api/types';
import { Confirm } from '../../parts/confirm';
import { Failure } from '../../parts/failure';
import { Time } from '../../parts/time';
import { nounOf } from '../../period';
import { Approve } from './approve';
import { ResendToFailed } from './recipients';
import { isPaused } from './state-of';

type Change = 'pause' | 'resume' | 'cancel';
const DONE: Record<Change, string> = {
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
};

function useBroadcastChange(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => call('POST', `/v1/broadcasts/${id}/${change}`),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['broadcast', id] }),
        queries.invalidateQueries({ queryKey: ['broadcasts'] }),
      ]),
  });
}

export function Actions({ broadcast }: { broadcast: BroadcastDetail }) {
  const change = useBroadcastChange(broadcast.id);
  const paused = isPaused(broadcast);
  const waits = broadcast.status === 'pending' || broadcast.status === 'scheduled';
  const left = broadcast.total - broadcast.sent - broadcast.failed;
  return (
    <Stack gap="xs">
      {paused && (
        <Text size="sm" role="status">
          Paused: {nounOf(left, 'contact')} {left === 1 ? 'waits' : 'wait'}. It is cancelled on{' '}
          <Time value={broadcast.pause_ends_at} /> unless it is resumed.
        </Text>
      )}
      <Approve broadcast={broadcast} />
      <Group gap="xs">
        {broadcast.status === 'processing' && (
          // One button for both, and never a disabled one, so that it keeps the keyboard focus.
          <Button
            variant={paused ? 'filled' : 'default'}
            aria-busy={change.isPending}
            onClick={() => {
              if (!change.isPending) change.mutate(paused ? 'resume' : 'pause');
            }}
          >
            {paused ? 'Resume' : 'Pause'}
          </Button>
        )}
        {(waits || paused) && <Cancel broadcast={broadcast} left={left} change={change} />}
        <Button
          variant="default"
          component={Link}
          to="/broadcasts/new"
          search={{ copy: broadcast.id, number: broadcast.phone_number_id } as never}
        >
          Copy
        </Button>
        <ResendToFailed broadcast={broadcast} />
      </Group>
      {change.error && (
        <Failure
          error={change.error}
          title={`The broadcast was not ${DONE[change.variables as Change]}`}
        />
      )}
    </Stack>
  );
}

interface CancelProps {
  broadcast: BroadcastDetail;
  left: number;
  change: ReturnType<typeof useBroadcastChange>;
}

/** Before the start nothing is lost; a paused broadcast needs a confirmation. */
function Cancel({ broadcast, left, change }: CancelProps) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button
        color="red"
        variant="light"
        loading={change.isPending && change.variables === 'cancel'}
        onClick={() => (isPaused(broadcast) ? setAsking(true) : change.mutate('cancel'))}
      >
        Cancel the broadcast
      </Button>
      {asking && (
        <Confirm
          title={`Cancel ${broadcast.name}?`}
          action="Cancel the broadcast"
          pending={change.isPending}
          error={null}
          onConfirm={() => change.mutate('cancel', { onSettled: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        >
          {nounOf(left, 'contact')} {left === 1 ? 'has' : 'have'} no message yet and will get none.
          It cannot be resumed afterwards.
        </Confirm>
      )}
    </>
  );
}
