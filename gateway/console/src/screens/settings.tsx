// The partner's settings: webhook, secret, alerts, plan, endpoints, approval, keys, invoices,
// passkeys and sessions. A person sees those of the role.
import { Anchor, Button, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { billingQuery, sessionQuery, settingsQuery, useMay } from '../api/queries';
import type { Settings } from '../api/types';
import { Changeable } from '../parts/allowed';
import { Card } from '../parts/card';
import { Copy } from '../parts/copy';
import { Facts } from '../parts/facts';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { State } from '../parts/state';
import { Time } from '../parts/time';
import { countOf, nounOf } from '../period';
import { Alerts } from './settings/alerts';
import { BroadcastApproval } from './settings/approval';
import { Contacts } from './settings/contacts';
import { ConnectOrigins } from './settings/connect-origins';
import { WebhookEndpoints } from './settings/endpoints';
import { ExtraEvents } from './settings/extra-events';
import { ApiKeys } from './settings/keys';
import { Logo } from './settings/logo';
import { Passkeys } from './settings/passkeys';
import { Sessions } from './settings/sessions';
import { WebhookAddress } from './settings/webhook';
import { WebhookSecret } from './settings/secret';
import { ShadowReceivers } from './settings/shadows';

export function Screen() {
  const may = useMay();
  const person = useQuery(sessionQuery).data?.person;
  return (
    <Page
      title="Settings"
      actions={
        may('manage') && (
          <>
            <Button component={Link} to="/settings/people" variant="default">
              People
            </Button>
            <Button component={Link} to="/settings/audit" variant="default">
              Audit log
            </Button>
          </>
        )
      }
    >
      {may('read') && <PartnerSettings />}
      {may('read') && (
        <Changeable scope="manage">
          <WebhookEndpoints />
          <ShadowReceivers />
        </Changeable>
      )}
      {may('read') && <BroadcastApproval />}
      {may('manage') && <ApiKeys />}
      {may('billing') && <Invoices />}
      {person && <Passkeys />}
      <Sessions />
    </Page>
  );
}

function PartnerSettings() {
  const query = useQuery(settingsQuery);
  return (
    <Loaded query={query} what="the settings" lines={8}>
      {(settings) => (
        <>
          <Changeable scope="manage">
            <WebhookAddress settings={settings} />
            <ExtraEvents settings={settings} />
            <WebhookSecret settings={settings} />
            <Alerts settings={settings} />
            <Logo settings={settings} />
            <ConnectOrigins settings={settings} />
            <Contacts settings={settings} />
          </Changeable>
          <Plan settings={settings} />
        </>
      )}
    </Loaded>
  );
}

const Plan = ({ settings }: { settings: Settings }) => {
  const { plan, partner_id, key_hint, rate_limit_per_sec } = settings;
  return (
    <Card title="Account">
      <Facts
        of={[
          ['Name', settings.name],
          [
            'Partner ID',
            <span>
              {partner_id} <Copy text={partner_id} label="Copy the partner ID" />
            </span>,
          ],
          ['State', <State of={settings.status} />],
          ['Partner key', `${key_hint} (support rotates it)`],
          ['Rate limit', `${countOf(rate_limit_per_sec)} requests a second`],
          [
            'Business accounts',
            `${plan.active_wabas}${plan.max_wabas === null ? '' : ` of ${plan.max_wabas}`} active`,
          ],
          ['Billing', `${nounOf(plan.slots, 'slot')} this month`],
        ]}
      />
    </Card>
  );
};

const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });

function Invoices() {
  const query = useQuery(billingQuery);
  return (
    <Card title="Invoices">
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
                minWidth={480}
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
