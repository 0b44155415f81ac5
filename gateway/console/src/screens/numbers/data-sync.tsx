// The sync of contacts and history of a number that stays in use in the business app: until when it
// can be requested, and how far the history has arrived.
import { Progress, Stack, Text } from '@mantine/core';
import type { DataSync, HistorySync } from '../../api/types';
import { State, Time } from '../../parts/values';

/** The upstream's code of a client that does not share its history. */
const DECLINED = 2593109;
/** The content of each phase of the upstream's history. */
const PHASES = ['the last day', 'up to 90 days ago', 'up to 180 days ago'];
const COMPLETE = 100;

export function DataSyncState({ sync }: { sync: DataSync | null }) {
  if (!sync) return <span>–</span>;
  const { status, contacts_requested_at, history_requested_at, request_until, history } = sync;
  return (
    <Stack gap={4}>
      <State of={status} />
      {status !== 'requested' && (
        <Text size="sm">
          {status === 'waiting' ? 'possible until ' : 'was possible until '}
          <Time value={request_until} as="exact" /> (<Time value={request_until} as="ago" />)
        </Text>
      )}
      <Text size="sm">
        contacts: {contacts_requested_at ? <Time value={contacts_requested_at} /> : 'not requested'}
        , history: {history_requested_at ? <Time value={history_requested_at} /> : 'not requested'}
      </Text>
      {history ? (
        <History history={history} />
      ) : (
        history_requested_at && <Text size="sm">Nothing of the history has arrived yet.</Text>
      )}
    </Stack>
  );
}

function History({ history: { phase, progress, received_at, error } }: { history: HistorySync }) {
  if (error) {
    return (
      <Text size="sm">
        {error.code === DECLINED
          ? 'Your client declined to share the message history. Messages from now on arrive as usual.'
          : `The history does not arrive: ${error.message} (${error.code})`}
      </Text>
    );
  }
  return (
    <>
      {progress !== null && <SyncBar progress={progress} />}
      <Text size="sm">
        {progress === COMPLETE ? 'History complete' : `History: ${progress ?? 'unknown'} %`}
        {phase !== null && progress !== COMPLETE && `, phase ${phase}: ${PHASES[phase] ?? 'older'}`}
        {'; latest part '}
        <Time value={received_at} as="ago" />
      </Text>
    </>
  );
}

const SyncBar = ({ progress }: { progress: number }) => (
  <Progress.Root size="md" maw={280}>
    <Progress.Section value={progress} aria-label={`History: ${progress} percent`} />
  </Progress.Root>
);

/** For the list of numbers. */
export function SyncCell({ sync }: { sync: DataSync | null | undefined }) {
  const { progress = null, error = null } = sync?.history ?? {};
  if (error) return <State of="declined" />;
  if (progress === COMPLETE) return <State of="completed" />;
  if (progress === null) return <State of={sync?.status} />;
  return (
    <>
      <SyncBar progress={progress} />
      <Text size="xs">{progress} %</Text>
    </>
  );
}
