// Sent messages by category and by number, beside the period before: two pictures, each a table
// with bars.
import { SimpleGrid, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { clientsQuery, ledgerTotalsQuery, usageQuery } from '../../api/queries';
import type { LedgerTotals, Usage } from '../../api/types';
import { nameOf } from '../../attention';
import { compare, type ComparedRow } from '../../compared';
import { Card } from '../../parts/card';
import { Loaded } from '../../parts/loaded';
import { changeOf, countOf, periodBefore, type Days } from '../../period';

export const Compared = (period: Days) => (
  <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
    <ByCategory {...period} />
    <ByNumber {...period} />
  </SimpleGrid>
);

const sentOf = ({ messages }: Usage): Record<string, number> =>
  Object.fromEntries(Object.entries(messages).map(([category, { sent }]) => [category, sent]));

function ByCategory(period: Days) {
  const before = periodBefore(period);
  const now = useQuery(usageQuery(period.from, period.to));
  const past = useQuery(usageQuery(before.from, before.to));
  return (
    <Card title="Sent by category">
      <Loaded query={now} what="the messages by category" lines={3}>
        {(usage) => (
          <Rows head="Category" rows={compare(sentOf(usage), past.data ? sentOf(past.data) : {})} />
        )}
      </Loaded>
    </Card>
  );
}

const messagesOf = ({ by_number }: LedgerTotals): Record<string, number> =>
  Object.fromEntries(by_number.map(({ phone_number_id, messages }) => [phone_number_id, messages]));

function ByNumber(period: Days) {
  const now = useQuery(ledgerTotalsQuery(period));
  const past = useQuery(ledgerTotalsQuery(periodBefore(period)));
  const clients = useQuery(clientsQuery).data ?? [];
  const names = new Map(clients.map((client) => [client.phone_number_id, nameOf(client)]));
  return (
    <Card title="Sent by number">
      <Loaded query={now} what="the messages by number" lines={3}>
        {(totals) => (
          <Rows
            head="Number"
            rows={compare(messagesOf(totals), past.data ? messagesOf(past.data) : {})}
            names={names}
          />
        )}
      </Loaded>
    </Card>
  );
}

/** More would be a list, not a picture: the ledger has all. */
const ROWS_MAX = 8;

interface RowsProps {
  head: string;
  rows: ComparedRow[];
  names?: ReadonlyMap<string, string>;
}

function Rows({ head, rows, names }: RowsProps) {
  if (rows.length === 0) return <Text size="sm">Nothing was sent in these periods.</Text>;
  const most = Math.max(1, ...rows.flatMap(({ now, before }) => [now, before]));
  return (
    <Table aria-label={`Sent by ${head.toLowerCase()}, now and before`} className="compared">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{head}</Table.Th>
          <Table.Th ta="right">Now</Table.Th>
          <Table.Th ta="right">Before</Table.Th>
          <Table.Th ta="right">Change</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.slice(0, ROWS_MAX).map((row) => (
          <Table.Tr key={row.name}>
            <Table.Td>
              {names?.get(row.name) ?? row.name}
              <Bars row={row} most={most} />
            </Table.Td>
            <Table.Td ta="right">{countOf(row.now)}</Table.Td>
            <Table.Td ta="right">{countOf(row.before)}</Table.Td>
            <Table.Td ta="right">{changeOf(row.now, row.before) || 'new'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Decoration: the cells beside it have the figures. */
const Bars = ({ row: { now, before }, most }: { row: ComparedRow; most: number }) => (
  <svg aria-hidden viewBox="0 0 100 10" preserveAspectRatio="none" className="compared-bars">
    <rect width={(now / most) * 100} height="5" className="compared-now" />
    <rect y="6" width={(before / most) * 100} height="3" className="compared-before" />
  </svg>
);
