// The invoices, and the card that pays them.
import { Anchor, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { billingQuery } from '../../api/queries';
import { Card } from '../../parts/card';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { SettingsPage } from './page';

export const Screen = () => (
  <SettingsPage to="/settings/billing">
    <Invoices />
  </SettingsPage>
);

const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });

function Invoices() {
  const query = useQuery(billingQuery);
  return (
    <Card>
      <Loaded query={query} what="the invoices">
        {({ invoices, card }) => (
          <Stack gap="sm">
            <Text size="sm">
              {card
                ? `Paid with ${card.brand} ending in ${card.last4}.`
                : 'There is no card on file.'}
            </Text>
            {invoices.length === 0 && <Text size="sm">There are no invoices yet.</Text>}
            {invoices.length > 0 && (
              <Table.ScrollContainer
                minWidth={320}
                scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
              >
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Month</Table.Th>
                      <Table.Th>Amount</Table.Th>
                      <Table.Th>State</Table.Th>
                      <Table.Th>Payment</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {invoices.map((invoice) => (
                      <Table.Tr key={`${invoice.month}/${invoice.slot}`}>
                        <Table.Td>{invoice.month}</Table.Td>
                        <Table.Td>{dollars.format(invoice.amount_cents / 100)}</Table.Td>
                        <Table.Td>
                          <State of={invoice.status} />
                        </Table.Td>
                        <Table.Td>
                          {invoice.payment_url ? (
                            <Anchor href={invoice.payment_url} target="_blank" rel="noreferrer">
                              Pay
                            </Anchor>
                          ) : (
                            <Time value={invoice.paid_at} />
                          )}
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            )}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}
