// One number: our own facts, the upstream's facts, and the actions.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client';
import { billingQuery, clientsQuery, phoneStatusQuery, useChange, useMay } from '../../api/queries';
import type { Client } from '../../api/types';
import { nameOf } from '../../attention';
import { limitOf } from '../../number-days';
import { Changeable, IfMay } from '../../parts/allowed';
import { Confirm, Opens, Panel, type Closing } from '../../parts/dialogs';
import { Facts, Failure, Loaded, Section } from '../../parts/layout';
import { Copy, State, Time, yesNo } from '../../parts/values';
import { ConnectNumber } from './connect';
import { DataSyncState } from './data-sync';
import { NumberHistory } from './history';

export function NumberDrawer({ client, onClose }: Closing<{ client: Client }>) {
  const { data: billing } = useQuery({ ...billingQuery, enabled: useMay()('billing') });
  const waits = billing?.waiting_waba_ids.includes(client.waba_id);
  return (
    <Panel onClose={onClose} title={nameOf(client)}>
      <Stack gap="lg">
        <Facts
          of={[
            ['Number', `+${client.phone_number}`],
            ['State', <State of={client.status === 'deleted' ? 'deleted' : client.health} />],
            ['Quality', <State of={client.quality_rating} />],
            ['Messaging limit', limitOf(client.messaging_limit_tier)],
            ['Throughput', client.throughput_level?.toLowerCase()],
            ['Business account', <Identifier text={client.waba_id} />],
            ['Number ID', <Identifier text={client.phone_number_id} />],
            ['Connected', <Time value={client.registered_at} />],
            ['Last activity', <Time value={client.last_activity_at} as="ago" />],
            ['Data sync', <DataSyncState sync={client.data_sync ?? null} />],
            ['Billing', billing && (waits ? 'waits for a payment' : 'in order')],
          ]}
        />
        <NumberHistory phone_number_id={client.phone_number_id} />
        {client.status === 'active' ? <ActiveNumber client={client} /> : <DeletedNumber />}
      </Stack>
    </Panel>
  );
}

const Identifier = ({ text }: { text: string }) => (
  <Group gap={4}>
    <Text ff="monospace" size="sm">
      {text}
    </Text>
    <Copy text={text} label="Copy the ID" />
  </Group>
);

const DeletedNumber = () => (
  <Stack gap="xs">
    <Text size="sm">
      The number is deleted and cannot send. When your client signs up with it again, it is restored
      with its history. Without a new sign-up, support can restore it for 180 days.
    </Text>
    <Changeable scope="manage">
      <Opens label="Restore by a new sign-up" variant="filled" w="fit-content">
        {(close) => <ConnectNumber onClose={close} />}
      </Opens>
    </Changeable>
  </Stack>
);

const ActiveNumber = ({ client }: { client: Client }) => (
  <>
    <Changeable scope="manage">
      <Actions client={client} />
    </Changeable>
    <UpstreamFacts client={client} />
    <IfMay scope="manage">
      <Opens label="Delete the business account" color="red" variant="light" w="fit-content">
        {(close) => <DeleteAccount client={client} onClose={close} />}
      </Opens>
    </IfMay>
  </>
);

const ACTIONS = [
  { name: 'refresh', label: 'Refresh', done: 'Quality and limits are fresh from the upstream.' },
  {
    name: 'resubscribe-webhook',
    label: 'Resubscribe to events',
    done: 'The business account is subscribed to events.',
  },
] as const;

function Actions({ client }: { client: Client }) {
  const act = useChange([clientsQuery], (action: (typeof ACTIONS)[number]) =>
    call('POST', `/v1/clients/${client.waba_id}/${action.name}`, { body: {} }),
  );
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {ACTIONS.map((action) => (
          <Button
            key={action.name}
            variant="default"
            size="xs"
            loading={act.isPending && act.variables === action}
            onClick={() => act.mutate(action)}
          >
            {action.label}
          </Button>
        ))}
      </Group>
      {act.isSuccess && (
        <Text size="sm" role="status">
          {act.variables.done}
        </Text>
      )}
      {act.error && <Failure error={act.error} title={`${act.variables.label} failed`} />}
    </Stack>
  );
}

const UpstreamFacts = ({ client }: { client: Client }) => (
  <Section title="Upstream">
    <Loaded query={useQuery(phoneStatusQuery(client))} what="the status of the number">
      {(phone) => (
        <Facts
          of={[
            ['Verified name', phone['verified_name'] as string],
            ['Status', (phone['status'] as string | undefined)?.toLowerCase()],
            ['Name status', (phone['name_status'] as string | undefined)?.toLowerCase()],
            ['In the business app', yesNo(phone['is_on_biz_app'])],
            ['Two-step PIN', yesNo(phone['is_pin_enabled'])],
            ['Official account', yesNo(phone['is_official_business_account'])],
          ]}
        />
      )}
    </Loaded>
  </Section>
);

function DeleteAccount({ client, onClose }: Closing<{ client: Client }>) {
  const remove = useChange(
    [clientsQuery],
    () => call('DELETE', `/v1/clients/${client.waba_id}`),
    onClose,
  );
  return (
    <Confirm
      title={`Delete ${nameOf(client)}?`}
      action="Delete"
      typed={client.waba_id}
      work={remove}
      onClose={onClose}
    >
      All numbers of the business account stop sending and receiving at once. To restore them, your
      client signs up again.
    </Confirm>
  );
}
