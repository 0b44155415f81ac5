// The ledger: the cost of each message, totals, and charges that differ from the requested
// category.
import { Alert, Group, List, SegmentedControl, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readFile } from '../../api/client';
import { ledgerQuery } from '../../api/queries';
import type { LedgerChange, LedgerEntry, LedgerPage } from '../../api/types';
import { sumOf } from '../../money';
import { IfMay } from '../../parts/allowed';
import { Export } from '../../parts/export';
import { PeriodFilter, useFilters } from '../../parts/filters';
import { Card, EmptyCard, Hint, Loaded, Page } from '../../parts/layout';
import { NumberFilter } from '../../parts/numbers';
import { type Column, column, Rows, timeColumn } from '../../parts/rows';
import { Amounts } from '../../parts/tables';
import { State, Time } from '../../parts/values';
import { periodOf } from '../../period';

const COLUMNS: Array<Column<LedgerEntry>> = [
  column('To', '1.1fr', ({ recipient }) => recipient),
  column('State', '105px', ({ status }) => <State of={status} />, { bare: true }),
  column(
    'Category',
    '1.2fr',
    ({ category, category_asked, category_changed }) =>
      category_changed ? `${category_asked} → ${category}` : (category ?? category_asked ?? '–'),
    { from: 'middle' },
  ),
  column('Market', '1fr', ({ market }) => market ?? '–', { from: 'wide' }),
  column(
    'Charged',
    '110px',
    ({ charged, billable_unlike_check }) => (
      <>
        {charged === null ? 'not known' : charged ? 'yes' : 'no'}
        {billable_unlike_check && ', not foreseen'}
      </>
    ),
    { from: 'wide' },
  ),
  column(
    'Amount',
    '125px',
    ({ amount, currency }) => (amount === null ? '–' : `${amount} ${currency ?? ''}`),
    { figure: true },
  ),
  timeColumn('Sent', ({ sent_at }) => sent_at),
];

export function Screen() {
  const [{ period = 'month', number }] = useFilters();
  const { from, to } = periodOf(period);
  const filter = { from, to, phone_number_id: number };
  const query = useInfiniteQuery(ledgerQuery(filter));
  return (
    <Page
      title="Ledger"
      description={`${from} to ${to}, in whole UTC days: what the upstream charges for each message, at the operator’s rates.`}
      actions={
        <>
          <PeriodFilter period={period} />
          <Export
            failure="The ledger was not exported"
            file={`ledger-${from}-${to}.csv`}
            read={() => readFile('/v1/usage/ledger', { query: filter, accept: 'text/csv' })}
          />
        </>
      }
    >
      <IfMay scope="read">
        <Group align="flex-end">
          <NumberFilter />
        </Group>
      </IfMay>
      <Loaded query={query} what="the ledger" lines={8}>
        {({ pages }) => (
          <Stack gap="lg">
            {pages[0]?.totals && <Totals totals={pages[0].totals} months={pages[0].months} />}
            <Changes changes={pages[0]?.category_changes ?? []} />
            <Rows
              label="Entries"
              columns={COLUMNS}
              rows={pages.flatMap(({ entries }) => entries)}
              keyOf={({ message_id, late_at }) => `${message_id}/${late_at ?? ''}`}
              paging={query}
              empty={
                <EmptyCard title="No message in this period">Choose a longer period.</EmptyCard>
              }
            />
          </Stack>
        )}
      </Loaded>
    </Page>
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
      <Hint>
        {months.map(({ month, status }) => `${month} is ${status}`).join(', ')}. The figures of a
        closed month never change.
      </Hint>
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
