// The shadow receivers of the last days: how a second address answered the same events.
import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client';
import { shadowQuery, shadowsQuery, useChange } from '../../api/queries';
import type { ListedShadow, ShadowDifference } from '../../api/types';
import { ShareBar, TwoBars, type Share } from '../../parts/bars';
import { Card, Facts, Failure, Hint, Loaded, WorkButton } from '../../parts/layout';
import { DataTable, type TableColumn } from '../../parts/tables';
import { State, Time, timeIfAny } from '../../parts/values';
import { countOf, nounOf } from '../../period';

const REFRESH_MS = 5_000;

const useShadows = () =>
  useQuery({
    ...shadowsQuery,
    refetchInterval: ({ state }) => state.data?.[0]?.status === 'running' && REFRESH_MS,
  });

export const ShadowReceivers = () => (
  <Card title="Shadow receiver">
    <Stack gap="sm">
      <Text size="sm">
        A second address that gets copies of your events, to try a new receiver before you switch to
        it. It is started with the API, and has no effect on the first receiver.
      </Text>
      <Loaded query={useShadows()} what="the shadow receivers" lines={2}>
        {([latest]) =>
          latest ? (
            <Shadow of={latest} />
          ) : (
            <Text size="sm">No receiver has been tried in the last seven days.</Text>
          )
        }
      </Loaded>
    </Stack>
  </Card>
);

const SOURCES: Record<ListedShadow['source'], string> = {
  live: 'live events',
  last_day: 'events of the last day',
};

type Comparison = ListedShadow['comparison'];

function Shadow({ of }: { of: ListedShadow }) {
  const { comparison, shadow_id } = of;
  const stop = useChange([shadowsQuery, shadowQuery(shadow_id)], () =>
    call('POST', `/v1/webhook-shadows/${shadow_id}/stop`),
  );
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {new URL(of.url).host}
          </Text>
          <State of={of.status} />
        </Group>
        {of.status === 'running' && (
          <WorkButton size="compact-xs" variant="default" work={stop}>
            Stop
          </WorkButton>
        )}
      </Group>
      {stop.error && <Failure error={stop.error} title="The shadow was not stopped" />}
      <Facts
        of={[
          ['Compared with', of.endpoint_id ?? 'the webhook address'],
          ['Gets', SOURCES[of.source]],
          ['Started', <Time value={of.created_at} />],
          ['Ends', of.ended_at === null ? <Time value={of.ends_at} /> : null],
          ['Ended', timeIfAny(of.ended_at)],
        ]}
      />
      <Shares of={comparison} />
      {comparison.compared > 0 && <Times of={comparison} />}
      {comparison.answers.length > 0 && (
        <DataTable
          min_width={320}
          rows={comparison.answers}
          keyOf={({ first, shadow }) => `${first}/${shadow}`}
          columns={ANSWERS}
        />
      )}
      {comparison.different > 0 && <Differences of={of} />}
    </Stack>
  );
}

/** How both answered, as one bar; the list beside it has the figures. */
function Shares({ of: { compared, different, dropped } }: { of: Comparison }) {
  const parts: Share[] = [
    { name: 'answered alike', count: compared - different, colour: 'good' },
    { name: 'answered differently', count: different, colour: 'bad' },
    { name: 'not sent to the shadow, which was too slow', count: dropped, colour: 'dim' },
  ];
  return (
    <div>
      <ShareBar parts={parts} />
      <Text size="sm">{nounOf(compared + dropped, 'event')} of the first receiver</Text>
    </div>
  );
}

const msOf = (ms: number | null): string => (ms === null ? '–' : `${countOf(ms)} ms`);

function Times({ of: { first, shadow } }: { of: Comparison }) {
  const most = Math.max(1, first.p99_ms ?? 0, shadow.p99_ms ?? 0);
  return (
    <DataTable
      aria-label="Answer times"
      rows={[
        { name: 'First receiver', ...first },
        { name: 'Shadow', ...shadow },
      ]}
      keyOf={({ name }) => name}
      columns={[
        {
          title: 'Answer time',
          cell: ({ name, p50_ms, p99_ms }) => (
            <>
              {name}
              <TwoBars thick={p50_ms ?? 0} thin={p99_ms ?? 0} most={most} />
            </>
          ),
        },
        { title: 'Median', cell: ({ p50_ms }) => msOf(p50_ms), figure: true },
        { title: 'Slowest hundredth from', cell: ({ p99_ms }) => msOf(p99_ms), figure: true },
      ]}
    />
  );
}

const ANSWERS: Array<TableColumn<Comparison['answers'][number]>> = [
  { title: 'First receiver', cell: ({ first }) => first },
  { title: 'Shadow', cell: ({ shadow }) => shadow },
  { title: 'Events', cell: ({ events }) => countOf(events) },
];

const DIFFERENCES: Array<TableColumn<ShadowDifference>> = [
  {
    title: 'Answered differently',
    cell: ({ event, event_id }) => (
      <>
        {event}
        <Hint>{event_id}</Hint>
      </>
    ),
  },
  { title: 'Time', cell: ({ at }) => <Time value={at} as="exact" /> },
  { title: 'First receiver', cell: ({ first }) => answerOf(first) },
  { title: 'Shadow', cell: ({ shadow }) => answerOf(shadow) },
];

/** The latest of them, which the list of shadows leaves out. */
function Differences({ of: { shadow_id, status } }: { of: ListedShadow }) {
  const refetchInterval = status === 'running' && REFRESH_MS;
  const query = useQuery({ ...shadowQuery(shadow_id), refetchInterval });
  return (
    <Loaded query={query} what="the events that were answered differently" lines={2}>
      {({ comparison: { differences } }) => (
        <DataTable
          min_width={560}
          rows={differences.slice(0, SHOWN_MAX)}
          keyOf={({ event_id, at }) => `${event_id} ${at}`}
          columns={DIFFERENCES}
        />
      )}
    </Loaded>
  );
}

const SHOWN_MAX = 10;

const answerOf = ({ http_status, error }: ShadowDifference['first']): string =>
  http_status === null ? (error ?? 'no answer') : `HTTP ${http_status}`;
