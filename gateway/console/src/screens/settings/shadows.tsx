// The shadow receivers of the last days: how a second address answered the same events.
import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useChange } from '../../api/change';
import { call } from '../../api/client';
import { shadowQuery, shadowsQuery } from '../../api/queries';
import type { ListedShadow, ShadowDifference } from '../../api/types';
import { ShareBar, TwoBars, type Share } from '../../parts/bars';
import { Card } from '../../parts/card';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { countOf, nounOf } from '../../period';

export function ShadowReceivers() {
  const query = useQuery(shadowsQuery);
  return (
    <Card title="Shadow receiver">
      <Stack gap="sm">
        <Text size="sm">
          A second address that gets copies of your events, to try a new receiver before you switch
          to it. It is started with the API, and has no effect on the first receiver.
        </Text>
        <Loaded query={query} what="the shadow receivers" lines={2}>
          {({ shadows: [latest] }) =>
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
}

const SOURCES: Record<ListedShadow['source'], string> = {
  live: 'live events',
  last_day: 'events of the last day',
};

type Comparison = ListedShadow['comparison'];

const CHANGED = [shadowsQuery];

function Shadow({ of }: { of: ListedShadow }) {
  const { comparison, shadow_id } = of;
  const stop = useChange(CHANGED, () => call('POST', `/v1/webhook-shadows/${shadow_id}/stop`));
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
          <Button
            size="compact-xs"
            variant="default"
            loading={stop.isPending}
            onClick={() => stop.mutate()}
          >
            Stop
          </Button>
        )}
      </Group>
      {stop.error && <Failure error={stop.error} title="The shadow was not stopped" />}
      <Facts
        of={[
          ['Compared with', of.endpoint_id ?? 'the webhook address'],
          ['Gets', SOURCES[of.source]],
          ['Started', <Time value={of.created_at} />],
          ['Ends', of.ended_at === null ? <Time value={of.ends_at} /> : null],
          ['Ended', of.ended_at === null ? null : <Time value={of.ended_at} />],
        ]}
      />
      <Shares of={comparison} />
      {comparison.compared > 0 && <Times of={comparison} />}
      {comparison.answers.length > 0 && <Answers of={comparison.answers} />}
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

const Times = ({ of: { first, shadow } }: { of: Comparison }) => (
  <Table aria-label="Answer times">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Answer time</Table.Th>
        <Table.Th ta="right">Median</Table.Th>
        <Table.Th ta="right">Slowest hundredth from</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {[
        { name: 'First receiver', ...first },
        { name: 'Shadow', ...shadow },
      ].map(({ name, p50_ms, p99_ms }) => (
        <Table.Tr key={name}>
          <Table.Td>
            {name}
            <TwoBars
              thick={p50_ms ?? 0}
              thin={p99_ms ?? 0}
              most={Math.max(1, first.p99_ms ?? 0, shadow.p99_ms ?? 0)}
            />
          </Table.Td>
          <Table.Td ta="right">{msOf(p50_ms)}</Table.Td>
          <Table.Td ta="right">{msOf(p99_ms)}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
);

const Answers = ({ of }: { of: ListedShadow['comparison']['answers'] }) => (
  <Table.ScrollContainer minWidth={320} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>First receiver</Table.Th>
          <Table.Th>Shadow</Table.Th>
          <Table.Th>Events</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {of.map(({ first, shadow, events }) => (
          <Table.Tr key={`${first}/${shadow}`}>
            <Table.Td>{first}</Table.Td>
            <Table.Td>{shadow}</Table.Td>
            <Table.Td>{countOf(events)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

/** The latest of them, which the list of shadows leaves out. */
function Differences({ of: { shadow_id, status } }: { of: ListedShadow }) {
  const query = useQuery(shadowQuery(shadow_id, status === 'running'));
  return (
    <Loaded query={query} what="the events that were answered differently" lines={2}>
      {({ shadow }) => (
        <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Answered differently</Table.Th>
                <Table.Th>Time</Table.Th>
                <Table.Th>First receiver</Table.Th>
                <Table.Th>Shadow</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shadow.comparison.differences.slice(0, SHOWN_MAX).map((one) => (
                <Table.Tr key={`${one.event_id} ${one.at}`}>
                  <Table.Td>
                    {one.event}
                    <Text size="xs" c="dimmed">
                      {one.event_id}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Time value={one.at} as="exact" />
                  </Table.Td>
                  <Table.Td>{answerOf(one.first)}</Table.Td>
                  <Table.Td>{answerOf(one.shadow)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Loaded>
  );
}

const SHOWN_MAX = 10;

const answerOf = ({ http_status, error }: ShadowDifference['first']): string =>
  http_status === null ? (error ?? 'no answer') : `HTTP ${http_status}`;
