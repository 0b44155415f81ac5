// The ledger: the cost of each message, totals, and charges that differ from the requested
// category.
import { Alert, Button, Group, List, SegmentedControl, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { readFile } from '../../api/client';
import { ledgerQuery } from '../../api/queries';
import type { LedgerChange, LedgerEntry, LedgerPage } from '../../api/types';
import { sumOf } from '../../money';
import { IfMay } from '../../parts/allowed';
import { Amounts } from '../../parts/amounts';
import { Card } from '../../parts/card';
import { download } from '../../parts/csv';
import { Empty } from '../../parts/empty';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { NumberFilter } from '../../parts/number-select';
import { Page } from '../../parts/page';
import { Rows, type Column } from '../../parts/rows';
import { useFilters } from '../../parts/search';
import { State } from '../../parts/state';
import { Time, zoned } from '../../parts/time';
import { periodOf, PERIODS, type Period } from '../../period';

const COLUMNS: Array<Column<LedgerEntry>> = [
  { title: 'To', width: '1.1fr', cell: ({ recipient }) => recipient },
  { title: 'State', width: '105px', cell: ({ status }) => <State of={status} /> },
  {
    title: 'Category',
    from: 'middle',
    width: '1.2fr',
    cell: ({ category, category_asked, category_changed }) =>
      category_changed ? `${category_asked} → ${category}` : (category ?? category_asked ?? '–'),
    labelled: true,
  },
  {
    title: 'Market',
    from: 'wide',
    width: '1fr',
    cell: ({ market }) => market ?? '–',
    labelled: true,
  },
  {
    title: 'Charged',
    from: 'wide',
    width: '110px',
    cell: ({ charged, billable_unlike_check }) => (
      <>
        {charged === null ? 'not known' : charged ? 'yes' : 'no'}
        {billable_unlike_check && ', not foreseen'}
      </>
    ),
    labelled: true,
  },
  {
    title: 'Amount',
    width: '125px',
    cell: ({ amount, currency }) => (amount === null ? '–' : `${amount} ${currency ?? ''}`),
    labelled: true,
    figure: true,
  },
  {
    title: zoned('Sent'),
    width: '130px',
    cell: ({ sent_at }) => <Time value={sent_at} as="row" />,
    labelled: true,
  },
];

export function Screen() {
  const [{ period = 'month', number }, setFilters] = useFilters();
  const { from, to } = periodOf(period);
  const filter = { from, to, phone_number_id: number };
  const query = useInfiniteQuery(ledgerQuery(filter));
  const first = query.data?.pages[0];
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <Page
      title="Ledger"
      description={`${from} to ${to}, in whole UTC days: what the upstream charges for each message, at the operator’s rates.`}
      actions={
        <>
          <SegmentedControl
            aria-label="Period"
            value={period}
            onChange={(value) => setFilters({ period: value as Period })}
            data={PERIODS}
          />
          <Export filter={filter} />
        </>
      }
    >
      <IfMay scope="read">
        <Group align="flex-end">
          <NumberFilter />
        </Group>
      </IfMay>
      <Loaded query={query as never} what="the ledger" lines={8}>
        {() => (
          <Stack gap="lg">
            {first?.totals && <Totals totals={first.totals} months={first.months} />}
            <Changes changes={first?.category_changes ?? []} />
            {entries.length > 0 ? (
              <Rows
                label="Entries"
                columns={COLUMNS}
                rows={entries}
                keyOf={({ message_id, late_at }) => `${message_id}/${late_at ?? ''}`}
                onEnd={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
              />
            ) : (
              <Card>
                <Empty title="No message in this period">Choose a longer period.</Empty>
              </Card>
            )}
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function Export({
  filter,
}: {
  filter: { from: string; to: string; phone_number_id?: string | undefined };
}) {
  const file = useMutation({
    mutationFn: () => readFile('/v1/usage/ledger', { query: filter, accept: 'text/csv' }),
    onSuccess: (content) => download(`ledger-${filter.from}-${filter.to}.csv`, content),
  });
  return (
    <>
      <Button variant="default" loading={file.isPending} onClick={() => file.mutate()}>
        Export CSV
      </Button>
      {file.error && <Failure error={file.error} title="The ledger was not exported" />}
    </>
  );
}

type Totals = NonNullable<LedgerPage['totals']>;

const GROUPS = {
  Category: ({ by_category }: Totals) => by_category.map((row) => ({ ...row, name: row.category })),
  Number: ({ by_number }: Totals) =>
    by_number.map((row) => ({ ...row, name: row.phone_number_id })),
  Market: ({ by_market }: Totals) => by_market.map((row) => ({ ...row, name: row.market })),
  Day: ({ by_day }: Totals) => by_day.map((row) => ({ ...row, name: row.day })),
};
type GroupName = keyof typeof GROUPS;

function Totals({ totals, months }: { totals: Totals; months: LedgerPage['months'] }) {
  const [group, setGroup] = useState<GroupName>('Category');
  const rows = GROUPS[group](totals);
  return (
    <Card
      title={`Total: ${sumOf(totals)}`}
      aside={
        <SegmentedControl
          aria-label="Totals by"
          size="xs"
          value={group}
          onChange={(value) => setGroup(value as GroupName)}
          data={Object.keys(GROUPS)}
        />
      }
    >
      <Amounts head={group} unknown="not known" rows={rows} />
      <Text size="xs" c="dimmed">
        {months.map(({ month, status }) => `${month} is ${status}`).join(', ')}. The figures of a
        closed month never change.
      </Text>
    </Card>
  );
}

const Changes = ({ changes }: { changes: LedgerChange[] }) =>
  changes.length > 0 && (
    <Alert color="yellow" variant="light" title="Templates in another category than you requested">
      <List size="sm">
        {changes.map(({ template_name, template_language, category_asked, category, since }) => (
          <List.Item key={`${template_name}/${template_language}`}>
            {template_name} ({template_language}): {category_asked} → {category}
            {since && (
              <>
                {' since '}
                <Time value={since} />
              </>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
