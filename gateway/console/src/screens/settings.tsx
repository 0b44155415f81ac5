// The partner's settings: webhook, secret, alerts, plan, keys, invoices and sessions.
import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../api/client';
import { billingQuery, sessionQuery, sessionsQuery, settingsQuery } from '../api/queries';
import type { Settings } from '../api/types';
import { Card } from '../parts/card';
import { Copy } from '../parts/copy';
import { Facts } from '../parts/facts';
import { Failure } from '../parts/failure';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { State } from '../parts/state';
import { Time } from '../parts/time';
import { countOf, nounOf } from '../period';
import { Alerts } from './settings/alerts';
import { ApiKeys } from './settings/keys';
import { Logo } from './settings/logo';
import { WebhookAddress } from './settings/webhook';
import { WebhookSecret } from './settings/secret';

export function Screen() {
  const query = useQuery(settingsQuery);
  return (
    <Page
      title="Settings"
      actions={
        <Button component={Link} to="/settings/audit" variant="default">
          Audit log
        </Button>
      }
    >
      <Loaded query={query} what="the settings" lines={8}>
        {(settings) => (
          <>
            <WebhookAddress settings={settings} />
            <WebhookSecret settings={settings} />
            <Alerts settings={settings} />
            <Logo settings={settings} />
            <Plan settings={settings} />
          </>
        )}
      </Loaded>
      <ApiKeys />
      <Invoices />
      <Sessions />
    </Page>
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

function Sessions() {
  const query = useQuery(sessionsQuery);
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: () => call('DELETE', '/sessions'),
    onSuccess: () => queries.setQueryData(sessionQuery.queryKey, null),
  });
  return (
    <Card
      title="Sessions"
      aside={
        <Button size="xs" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
          Sign out everywhere
        </Button>
      }
    >
      {end.error && <Failure error={end.error} title="The sessions were not ended" />}
      <Loaded query={query} what="the sessions" lines={2}>
        {(sessions) => (
          <Stack gap="xs">
            {sessions.map((session) => (
              <Group key={session.created_at} gap="lg">
                <Text size="sm" fw={session.current ? 600 : 400}>
                  Signed in <Time value={session.created_at} />
                  {session.current && ' (this browser)'}
                </Text>
                <Text size="sm" c="dimmed">
                  used <Time value={session.used_at} as="ago" />, ends{' '}
                  <Time value={session.expires_at} />
                </Text>
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}
