// The shadow receivers of the last days: how a second address answered the same events.
import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useChange } from '../../api/change';
import { call } from '../../api/client';
import { shadowQuery, shadowsQuery } from '../../api/queries';
import type { ListedShadow, ShadowDifference } from '../../api/types';
import { Card } from '../../parts/card';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { countOf } from '../../period';

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

const timesOf = ({ p50_ms, p99_ms }: ListedShadow['comparison']['first']): string | null =>
  p50_ms === null
    ? null
    : `${countOf(p50_ms)} ms, slowest hundredth from ${countOf(p99_ms ?? 0)} ms`;

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
          ['Compared', `${countOf(comparison.compared)} events`],
          ['Answered differently', `${countOf(comparison.different)} events`],
          ['Not sent to the shadow', `${countOf(comparison.dropped)} events: it was too slow`],
          ['First receiver, median', timesOf(comparison.first)],
          ['Shadow, median', timesOf(comparison.shadow)],
        ]}
      />
      {comparison.answers.length > 0 && <Answers of={comparison.answers} />}
      {comparison.different > 0 && <Differences of={of} />}
    </Stack>
  );
}

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
