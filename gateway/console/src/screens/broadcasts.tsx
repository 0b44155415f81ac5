// Broadcasts with their progress, failures and actions.
import { Button, Progress, Stack, Text } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { broadcastQuery, broadcastsQuery } from '../api/queries';
import type { Broadcast, BroadcastDetail } from '../api/types';
import { download, toCsv } from '../parts/csv';
import { Panel, type Closing } from '../parts/dialogs';
import { useOpened } from '../parts/filters';
import { ButtonLink, EmptyCard, Facts, Loaded, Page, Section } from '../parts/layout';
import { type Column, column, countColumn, Rows, timeColumn } from '../parts/rows';
import { DataTable } from '../parts/tables';
import { State, Time, timeIfAny } from '../parts/values';
import { countOf } from '../period';
import { reasonOf } from '../reasons';
import { PersonName } from './broadcasts/approve';
import {
  Actions,
  changingState,
  useBroadcastChange,
  type BroadcastChange,
} from './broadcasts/actions';
import { BroadcastCost, DeliveryCurve, Recipients } from './broadcasts/outcome';
import { isOver, isPaused, isSettling, stateOf, waitsForApproval } from './broadcasts/state-of';

const COLUMNS: Array<Column<Broadcast>> = [
  column('Name', '1.5fr', ({ name }) => name),
  column('State', '150px', (one) => <State of={stateOf(one)} />, { bare: true }),
  column('Template', '1fr', ({ template_name }) => template_name, { from: 'wide' }),
  countColumn('Contacts', ({ total }) => total, { from: 'wide' }),
  countColumn('Delivered', ({ delivered }) => delivered, { from: 'middle' }),
  countColumn('Failed', ({ failed }) => failed, { from: 'middle', width: '80px' }),
  timeColumn(
    'Start',
    ({ started_at, scheduled_at, created_at }) => started_at ?? scheduled_at ?? created_at,
  ),
];

const REFRESH_MS = 5_000;
const FOLLOW_MS = 1_000;

export function Screen() {
  const { opened, setOpened, close } = useOpened();
  const query = useInfiniteQuery({ ...broadcastsQuery, refetchInterval: REFRESH_MS });
  return (
    <Page
      title="Broadcasts"
      description="One template to many contacts, at the pace of the number."
      actions={
        <ButtonLink to="/broadcasts/new" variant="filled" leftSection={<PlusIcon aria-hidden />}>
          Create a broadcast
        </ButtonLink>
      }
    >
      <Loaded query={query} what="the broadcasts">
        {({ pages }) => (
          <Rows
            label="Broadcasts"
            columns={COLUMNS}
            rows={pages.flatMap(({ broadcasts }) => broadcasts)}
            keyOf={({ id }) => String(id)}
            onOpen={({ id }) => setOpened(String(id))}
            paging={query}
            empty={
              <EmptyCard title="There is no broadcast yet">
                Choose a template and the contacts; nothing is sent before you confirm.
              </EmptyCard>
            }
          />
        )}
      </Loaded>
      {opened && <BroadcastDrawer id={Number(opened)} onClose={close} />}
    </Page>
  );
}

function BroadcastDrawer({ id, onClose }: Closing<{ id: number }>) {
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
      ['Scheduled', timeIfAny(broadcast.scheduled_at)],
      ['Created by', broadcast.approval && <PersonName id={broadcast.approval.created_by} />],
      [
        'Approved by',
        broadcast.approval?.approved_by && <PersonName id={broadcast.approval.approved_by} />,
      ],
      ['Approved', timeIfAny(broadcast.approval?.approved_at, 'exact')],
      ['Started', <Time value={broadcast.started_at} as="exact" />],
      [
        'Expected end',
        isOver(broadcast) ? null : timeIfAny(broadcast.estimated_completion_at, 'exact'),
      ],
      ['Paused', timeIfAny(broadcast.paused_at, 'exact')],
      ['Completed', <Time value={broadcast.completed_at} as="exact" />],
      ['Reason', broadcast.status === 'cancelled' ? broadcast.error_log : null],
    ]}
  />
);

function Failures({ broadcast: { id, failures } }: { broadcast: BroadcastDetail }) {
  if (failures.length === 0) return null;
  const exportAll = (): void =>
    download(
      `broadcast-${id}-failures.csv`,
      toCsv([
        ['Reason', 'Contacts', 'Example'],
        ...failures.map((one) => [one.code, one.count, one.example_recipient ?? '']),
      ]),
    );
  return (
    <Section
      title="Failures"
      aside={
        <Button size="xs" variant="default" onClick={exportAll}>
          Export CSV
        </Button>
      }
    >
      <DataTable
        rows={failures}
        keyOf={({ code }) => code}
        columns={[
          {
            title: 'Reason',
            cell: ({ code }) => (
              <>
                {code}
                <Text size="xs">{reasonOf(code)}</Text>
              </>
            ),
          },
          { title: 'Contacts', cell: ({ count }) => count },
          { title: 'Example', cell: ({ example_recipient }) => example_recipient },
        ]}
      />
    </Section>
  );
}
