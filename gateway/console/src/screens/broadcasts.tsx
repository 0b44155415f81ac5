// Broadcasts with their progress, failures and actions.
import { Button, Group, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { broadcastQuery, broadcastsQuery } from '../api/queries';
import type { Broadcast, BroadcastDetail } from '../api/types';
import { Card } from '../parts/card';
import { download, toCsv } from '../parts/csv';
import { Empty } from '../parts/empty';
import { Facts } from '../parts/facts';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { Panel } from '../parts/panel';
import { Rows, type Column } from '../parts/rows';
import { useFilters } from '../parts/search';
import { State } from '../parts/state';
import { Time, zoned } from '../parts/time';
import { countOf } from '../period';
import { reasonOf } from '../reasons';
import { PersonName } from './broadcasts/approve';
import {
  Actions,
  changingState,
  useBroadcastChange,
  type BroadcastChange,
} from './broadcasts/actions';
import { BroadcastCost } from './broadcasts/cost';
import { DeliveryCurve } from './broadcasts/delivery-curve';
import { Recipients } from './broadcasts/recipients';
import { isOver, isPaused, isSettling, stateOf, waitsForApproval } from './broadcasts/state-of';

const COLUMNS: Array<Column<Broadcast>> = [
  { title: 'Name', width: '1.5fr', cell: ({ name }) => name },
  { title: 'State', width: '150px', cell: (one) => <State of={stateOf(one)} /> },
  {
    title: 'Template',
    from: 'wide',
    width: '1fr',
    cell: ({ template_name }) => template_name,
    labelled: true,
  },
  {
    title: 'Contacts',
    from: 'wide',
    width: '90px',
    cell: ({ total }) => countOf(total),
    labelled: true,
    figure: true,
  },
  {
    title: 'Delivered',
    from: 'middle',
    width: '90px',
    cell: ({ delivered }) => countOf(delivered),
    labelled: true,
    figure: true,
  },
  {
    title: 'Failed',
    from: 'middle',
    width: '80px',
    cell: ({ failed }) => countOf(failed),
    labelled: true,
    figure: true,
  },
  {
    title: zoned('Start'),
    width: '130px',
    cell: ({ started_at, scheduled_at, created_at }) => (
      <Time value={started_at ?? scheduled_at ?? created_at} as="row" />
    ),
    labelled: true,
  },
];

const REFRESH_MS = 5_000;
const FOLLOW_MS = 1_000;

export function Screen() {
  const [{ open }, setFilters] = useFilters();
  const query = useInfiniteQuery({ ...broadcastsQuery, refetchInterval: REFRESH_MS });
  const broadcasts = query.data?.pages.flatMap((page) => page.broadcasts) ?? [];
  return (
    <Page
      title="Broadcasts"
      description="One template to many contacts, at the pace of the number."
      actions={
        <Button component={Link} to="/broadcasts/new" leftSection={<PlusIcon aria-hidden />}>
          Create a broadcast
        </Button>
      }
    >
      <Loaded query={query as never} what="the broadcasts">
        {() =>
          broadcasts.length > 0 ? (
            <Rows
              label="Broadcasts"
              columns={COLUMNS}
              rows={broadcasts}
              keyOf={({ id }) => String(id)}
              onOpen={({ id }) => setFilters({ open: String(id) })}
              onEnd={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
            />
          ) : (
            <Card>
              <Empty title="There is no broadcast yet">
                Choose a template and the contacts; nothing is sent before you confirm.
              </Empty>
            </Card>
          )
        }
      </Loaded>
      {open && (
        <BroadcastDrawer id={Number(open)} onClose={() => setFilters({ open: undefined })} />
      )}
    </Page>
  );
}

function BroadcastDrawer({ id, onClose }: { id: number; onClose: () => void }) {
  const query = useQuery({
    ...broadcastQuery(id),
    refetchInterval: ({ state }) => {
      const broadcast = state.data?.broadcast;
      if (!broadcast) return FOLLOW_MS;
      if (isOver(broadcast)) return isSettling(broadcast) ? REFRESH_MS : false;
      return isPaused(broadcast) || waitsForApproval(broadcast) ? REFRESH_MS : FOLLOW_MS;
    },
  });
  const change = useBroadcastChange(id);
  return (
    <Panel onClose={onClose} title={query.data?.broadcast.name ?? 'Broadcast'}>
      <Loaded query={query} what="the broadcast" lines={8}>
        {({ broadcast, progress }) => (
          <Stack gap="lg">
            <Progress.Root size="lg">
              <Progress.Section value={progress} aria-label={`${Math.round(progress)} percent`} />
            </Progress.Root>
            <BroadcastFacts broadcast={broadcast} progress={progress} change={change} />
            <Actions broadcast={broadcast} change={change} />
            <DeliveryCurve broadcast={broadcast} />
            <BroadcastCost broadcast={broadcast} />
            <Failures broadcast={broadcast} />
            <Recipients broadcast={broadcast} />
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

const BroadcastFacts = ({
  broadcast,
  progress,
  change,
}: {
  broadcast: BroadcastDetail;
  progress: number;
  change: BroadcastChange;
}) => (
  <Facts
    of={[
      ['State', <State of={changingState(change) ?? stateOf(broadcast)} />],
      ['Progress', `${Math.round(progress)} %`],
      ['Contacts', countOf(broadcast.total)],
      ['Sent', countOf(broadcast.sent)],
      ['Delivered', countOf(broadcast.delivered)],
      ['Failed', countOf(broadcast.failed)],
      ['Skipped', broadcast.skipped > 0 ? countOf(broadcast.skipped) : null],
      ['Duplicates', broadcast.duplicates > 0 ? countOf(broadcast.duplicates) : null],
      ['Pace', broadcast.rate_per_sec && `${broadcast.rate_per_sec} a second`],
      ['Template', `${broadcast.template_name} (${broadcast.template_language})`],
      ['Scheduled', broadcast.scheduled_at && <Time value={broadcast.scheduled_at} />],
      ['Created by', broadcast.approval && <PersonName id={broadcast.approval.created_by} />],
      [
        'Approved by',
        broadcast.approval?.approved_by && <PersonName id={broadcast.approval.approved_by} />,
      ],
      [
        'Approved',
        broadcast.approval?.approved_at && (
          <Time value={broadcast.approval.approved_at} as="exact" />
        ),
      ],
      ['Started', <Time value={broadcast.started_at} as="exact" />],
      [
        'Expected end',
        broadcast.estimated_completion_at && !isOver(broadcast) && (
          <Time value={broadcast.estimated_completion_at} as="exact" />
        ),
      ],
      ['Paused', broadcast.paused_at && <Time value={broadcast.paused_at} as="exact" />],
      ['Completed', <Time value={broadcast.completed_at} as="exact" />],
      ['Reason', broadcast.status === 'cancelled' ? broadcast.error_log : null],
    ]}
  />
);

function Failures({ broadcast: { id, failures } }: { broadcast: BroadcastDetail }) {
  if (failures.length === 0) return null;
  const rows = failures.map(({ code, count, example_recipient }) => [
    code,
    count,
    example_recipient ?? '',
  ]);
  const head = ['Reason', 'Contacts', 'Example'];
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h5">
          Failures
        </Title>
        <Button
          size="xs"
          variant="default"
          onClick={() => download(`broadcast-${id}-failures.csv`, toCsv([head, ...rows]))}
        >
          Export CSV
        </Button>
      </Group>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {head.map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells) => (
            <Table.Tr key={cells[0]}>
              {cells.map((cell, at) => (
                <Table.Td key={at}>
                  {cell}
                  {at === 0 && <Text size="xs">{reasonOf(String(cell))}</Text>}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
