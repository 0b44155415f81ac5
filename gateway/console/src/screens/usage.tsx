// The usage of a period: calls, messages by category, billing slots.
import { Button, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { usageQuery } from '../api/queries';
import type { Usage } from '../api/types';
import { IfMay } from '../parts/allowed';
import { Card } from '../parts/card';
import { Facts } from '../parts/facts';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { download, toCsv } from '../parts/csv';
import { useFilters } from '../parts/search';
import { MonthForecast, PriceChange } from './usage/outlook';
import { countOf, nounOf, periodOf, PERIODS, percent, type Period } from '../period';

const COUNTS = ['sent', 'delivered', 'read', 'failed', 'billable', 'free'] as const;
const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });

export function Screen() {
  const [{ period = 'month' }, setFilters] = useFilters();
  const { from, to } = periodOf(period);
  const query = useQuery({ ...usageQuery(from, to), placeholderData: (before) => before });
  return (
    <Page
      title="Usage"
      description={`${from} to ${to}, in whole UTC days.`}
      actions={
        <>
          <SegmentedControl
            aria-label="Period"
            value={period}
            onChange={(value) => setFilters({ period: value as Period })}
            data={PERIODS}
          />
          <Button
            variant="default"
            component={Link}
            to="/usage/ledger"
            search={{ period } as never}
          >
            Ledger
          </Button>
          <IfMay scope="read">
            <Button variant="default" component={Link} to="/usage/prices">
              Prices
            </Button>
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
  rows: Array<Array<string | number>>;
}

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
    {rows.length === 0 ? (
      <Text size="sm">Nothing in this period.</Text>
    ) : (
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              {head.map((name, at) => (
                <Table.Th key={name} ta={at === 0 ? 'left' : 'right'}>
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((cells) => (
              <Table.Tr key={cells[0]}>
                {cells.map((cell, at) => (
                  <Table.Td key={at} ta={at === 0 ? 'left' : 'right'}>
                    {typeof cell === 'number' ? countOf(cell) : cell}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    )}
  </Card>
);
