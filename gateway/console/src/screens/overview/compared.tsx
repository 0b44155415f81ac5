// Messages by category and by number, beside the period before: two tables with bars.
import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { clientsQuery, ledgerTotalsQuery, messageDaysQuery, useMay } from '../../api/queries';
import type { LedgerTotals } from '../../api/types';
import { nameOf } from '../../attention';
import { compare, sentByCategory, type ComparedRow } from '../../figures';
import { TwoBars } from '../../parts/bars';
import { Card, Hint, Loaded, LoadedCard } from '../../parts/layout';
import { DataTable } from '../../parts/tables';
import { changeOf, countOf, periodBefore, type Days } from '../../period';

export function Compared(period: Days) {
  const may = useMay();
  return (
    <SimpleGrid cols={{ base: 1, md: may('billing') ? 2 : 1 }} spacing="md">
      <ByCategory {...period} />
      {may('billing') && <ByNumber {...period} />}
    </SimpleGrid>
  );
}

const ByCategory = (period: Days) => (
  <LoadedCard
    title="Sent by category"
    query={useQuery(messageDaysQuery)}
    what="the messages by category"
    lines={3}
  >
    {(days) => (
      <Rows
        head="Category"
        label="Sent by category, now and before"
        rows={compare(sentByCategory(days, period), sentByCategory(days, periodBefore(period)))}
      />
    )}
  </LoadedCard>
);

const messagesOf = ({ by_number }: LedgerTotals): Record<string, number> =>
  Object.fromEntries(by_number.map(({ phone_number_id, messages }) => [phone_number_id, messages]));

function ByNumber(period: Days) {
  const now = useQuery(ledgerTotalsQuery(period));
  const past = useQuery(ledgerTotalsQuery(periodBefore(period)));
  const clients = useQuery(clientsQuery).data ?? [];
  const names = new Map(clients.map((client) => [client.phone_number_id, nameOf(client)]));
  return (
    <Card title="Ledger entries by number">
      <Loaded query={now} what="the ledger entries by number" lines={3}>
        {(totals) => (
          <Rows
            head="Number"
            label="Ledger entries by number, now and before"
            rows={compare(messagesOf(totals), past.data ? messagesOf(past.data) : {})}
            names={names}
          />
        )}
      </Loaded>
      <Hint mt="xs">
        A message counts when it is accepted. “Sent” counts its status, on the day on which that
        came.
      </Hint>
    </Card>
  );
}

/** More would be a list, not a picture: the ledger has all. */
const ROWS_MAX = 8;

interface RowsProps {
  head: string;
  label: string;
  rows: ComparedRow[];
  names?: ReadonlyMap<string, string>;
}

function Rows({ head, label, rows, names }: RowsProps) {
  const most = Math.max(1, ...rows.flatMap(({ now, before }) => [now, before]));
  return (
    <DataTable
      aria-label={label}
      rows={rows.slice(0, ROWS_MAX)}
      empty="Nothing was sent in these periods."
      keyOf={({ name }) => name}
      columns={[
        {
          title: head,
          cell: ({ name, now, before }) => (
            <>
              {names?.get(name) ?? name}
              <TwoBars thick={now} thin={before} most={most} />
            </>
          ),
        },
        { title: 'Now', cell: ({ now }) => countOf(now), figure: true },
        { title: 'Before', cell: ({ before }) => countOf(before), figure: true },
        {
          title: 'Change',
          cell: ({ now, before }) => changeOf(now, before) || 'new',
          figure: true,
        },
      ]}
    />
  );
}
