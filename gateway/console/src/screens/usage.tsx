// The usage of a period: calls, messages by category, billing slots.
import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { usageQuery } from '../api/queries';
import type { Usage } from '../api/types';
import { dollars } from '../money';
import { IfMay } from '../parts/allowed';
import { download, toCsv } from '../parts/csv';
import { PeriodFilter, useFilters } from '../parts/filters';
import { ButtonLink, Card, Facts, Loaded, Page } from '../parts/layout';
import { DataTable } from '../parts/tables';
import { countOf, nounOf, percent, periodOf } from '../period';
import { MonthForecast, PriceChange } from './usage/outlook';

const COUNTS = ['sent', 'delivered', 'read', 'failed', 'billable', 'free'] as const;

export function Screen() {
  const [{ period = 'month' }] = useFilters();
  const days = periodOf(period);
  const { from, to } = days;
  const query = useQuery({ ...usageQuery(days), placeholderData: (before) => before });
  return (
    <Page
      title="Usage"
      description={`${from} to ${to}, in whole UTC days.`}
      actions={
        <>
          <PeriodFilter period={period} />
          <ButtonLink to="/usage/ledger" search={{ period }}>
            Ledger
          </ButtonLink>
          <IfMay scope="read">
            <ButtonLink to="/usage/prices">Prices</ButtonLink>
          </IfMay>
        </>
      }
    >
      <Loaded query={query} what="the usage" lines={8}>
        {(usage) => (
          <Stack gap="lg">
            <MonthForecast />
            <PriceChange />
            <Slots usage={usage} />
            <Numbers
              title="Messages"
              file={`messages-${from}-${to}.csv`}
              head={['Category', ...COUNTS]}
              rows={Object.entries(usage.messages).map(([category, counts]) => [
                category,
                ...COUNTS.map((name) => counts[name]),
              ])}
            />
            <Numbers
              title="Calls"
              file={`calls-${from}-${to}.csv`}
              head={['Endpoint', 'calls', 'errors']}
              rows={[...usage.endpoints]
                .sort((a, b) => b.calls - a.calls)
                .map(({ method, endpoint, calls, errors }) => [
                  method ? `${method} ${endpoint}` : endpoint,
                  calls,
                  errors,
                ])}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function Slots({ usage: { billing, messages } }: { usage: Usage }) {
  const all = Object.values(messages);
  const billable = all.reduce((sum, counts) => sum + counts.billable, 0);
  const free = all.reduce((sum, counts) => sum + counts.free, 0);
  return (
    <Card title="Billing">
      <Facts
        of={[
          [
            'This month',
            `${nounOf(billing.slots, 'billing slot')} for ${dollars.format(billing.fee_usd)}`,
          ],
          [
            'Business accounts',
            `${billing.active_wabas} active, ${billing.peak_active_wabas} at most this month`,
          ],
          ['Billable messages', `${countOf(billable)} (${percent(billable, billable + free)})`],
          ['Free messages', countOf(free)],
        ]}
      />
    </Card>
  );
}

interface NumbersProps {
  title: string;
  file: string;
  head: string[];
  rows: Cells[];
}

type Cells = Array<string | number>;

const shownOf = (cell: Cells[number] | undefined) =>
  typeof cell === 'number' ? countOf(cell) : cell;

const Numbers = ({ title, file, head, rows }: NumbersProps) => (
  <Card
    title={title}
    aside={
      rows.length > 0 && (
        <Button size="xs" variant="default" onClick={() => download(file, toCsv([head, ...rows]))}>
          Export CSV
        </Button>
      )
    }
  >
    <DataTable
      min_width={420}
      rows={rows}
      keyOf={([name]) => String(name)}
      columns={head.map((name, at) => ({
        title: name,
        cell: (cells: Cells) => shownOf(cells[at]),
        figure: at > 0,
      }))}
      empty="Nothing in this period."
    />
  </Card>
);
