// The invoices, and the card that pays them.
import { Anchor, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { billingQuery } from '../../api/queries';
import type { Invoice } from '../../api/types';
import { dollars } from '../../money';
import { LoadedCard } from '../../parts/layout';
import { DataTable, type TableColumn } from '../../parts/tables';
import { State, Time } from '../../parts/values';
import { SettingsPage } from './page';

const COLUMNS: Array<TableColumn<Invoice>> = [
  { title: 'Month', cell: ({ month }) => month },
  { title: 'Amount', cell: ({ amount_cents }) => dollars.format(amount_cents / 100) },
  { title: 'State', cell: ({ status }) => <State of={status} /> },
  {
    title: 'Payment',
    cell: ({ payment_url, paid_at }) =>
      payment_url ? (
        <Anchor href={payment_url} target="_blank" rel="noreferrer">
          Pay
        </Anchor>
      ) : (
        <Time value={paid_at} />
      ),
  },
];

export const Screen = () => (
  <SettingsPage to="/settings/billing">
    <LoadedCard query={useQuery(billingQuery)} what="the invoices">
      {({ invoices, card }) => (
        <Stack gap="sm">
          <Text size="sm">
            {card
              ? `Paid with ${card.brand} ending in ${card.last4}.`
              : 'There is no card on file.'}
          </Text>
          <DataTable
            min_width={320}
            rows={invoices}
            keyOf={({ month, slot }) => `${month}/${slot}`}
            columns={COLUMNS}
            empty="There are no invoices yet."
          />
        </Stack>
      )}
    </LoadedCard>
  </SettingsPage>
);
