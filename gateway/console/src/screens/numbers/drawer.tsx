// One number: our own facts, the upstream's facts, and the actions.
import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import { billingQuery, clientsQuery, phoneStatusQuery, useMay } from '../../api/queries';
import type { Client } from '../../api/types';
import { nameOf } from '../../attention';
import { Changeable, IfMay } from '../../parts/allowed';
import { Confirm } from '../../parts/confirm';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { Panel } from '../../parts/panel';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { ConnectNumber } from './connect';
import { DataSyncState } from './data-sync';
import { NumberHistory } from './history';
import { limitOf } from './limit';

interface DrawerProps {
  client: Client;
  onClose: () => void;
}

export function NumberDrawer({ client, onClose }: DrawerProps) {
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

function DeletedNumber() {
  const [connecting, setConnecting] = useState(false);
  return (
    <Stack gap="xs">
      <Text size="sm">
        The number is deleted and cannot send. When your client signs up with it again, it is
        restored with its history. Without a new sign-up, support can restore it for 180 days.
      </Text>
      <Changeable scope="manage">
        <Button w="fit-content" onClick={() => setConnecting(true)}>
          Restore by a new sign-up
        </Button>
      </Changeable>
      {connecting && <ConnectNumber onClose={() => setConnecting(false)} />}
    </Stack>
  );
}

function ActiveNumber({ client }: { client: Client }) {
  return (
    <>
      <Changeable scope="manage">
        <Actions client={client} />
      </Changeable>
      <UpstreamFacts client={client} />
      <IfMay scope="manage">
        <DeleteNumber client={client} />
      </IfMay>
    </>
  );
}

const ACTIONS = [
  { name: 'refresh', label: 'Refresh', done: 'Quality and limits are fresh from the upstream.' },
  {
    name: 'resubscribe-webhook',
    label: 'Resubscribe to events',
    done: 'The business account is subscribed to events.',
  },
] as const;

function Actions({ client }: { client: Client }) {
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (action: (typeof ACTIONS)[number]) =>
      call('POST', `/v1/clients/${client.waba_id}/${action.name}`, { body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: clientsQuery.queryKey }),
  });
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

const yesOrNo = (value: unknown): string | undefined =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : undefined;

function UpstreamFacts({ client }: { client: Client }) {
  const query = useQuery(phoneStatusQuery(client));
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        Upstream
      </Title>
      <Loaded query={query} what="the status of the number">
        {(phone) => (
          <Facts
            of={[
              ['Verified name', phone['verified_name'] as string],
              ['Status', (phone['status'] as string | undefined)?.toLowerCase()],
              ['Name status', (phone['name_status'] as string | undefined)?.toLowerCase()],
              ['In the business app', yesOrNo(phone['is_on_biz_app'])],
              ['Two-step PIN', yesOrNo(phone['is_pin_enabled'])],
              ['Official account', yesOrNo(phone['is_official_business_account'])],
            ]}
          />
        )}
      </Loaded>
    </Stack>
  );
}

function DeleteNumber({ client }: { client: Client }) {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => call('DELETE', `/v1/clients/${client.waba_id}`),
    onSuccess: () => {
      setAsking(false);
      return queries.invalidateQueries({ queryKey: clientsQuery.queryKey });
    },
  });
  return (
    <>
      <Button color="red" variant="light" w="fit-content" onClick={() => setAsking(true)}>
        Delete the business account
      </Button>
      {asking && (
        <Confirm
          title={`Delete ${nameOf(client)}?`}
          action="Delete"
          typed={client.waba_id}
          pending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          All numbers of the business account stop sending and receiving at once. To restore them,
          your client signs up again.
        </Confirm>
      )}
    </>
  );
}
