// The webhook endpoints beside the webhook address: where events go, and how their deliveries went.
import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client';
import { endpointsQuery } from '../../api/queries';
import type { EndpointTest, WebhookEndpoint } from '../../api/types';
import { receiverOf } from '../../attention';
import { Card } from '../../parts/card';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { countOf } from '../../period';

export function WebhookEndpoints() {
  const query = useQuery(endpointsQuery);
  return (
    <Card title="Webhook endpoints">
      <Stack gap="sm">
        <Text size="sm">
          Endpoints beside your webhook address: URLs, or topics, queues and buckets of yours. They
          are added and changed with the API.
        </Text>
        <Loaded query={query} what="the webhook endpoints" lines={2}>
          {({ endpoints }) =>
            endpoints.length === 0 ? (
              <Text size="sm">There are no webhook endpoints yet.</Text>
            ) : (
              <List endpoints={endpoints} />
            )
          }
        </Loaded>
      </Stack>
    </Card>
  );
}

function List({ endpoints }: { endpoints: WebhookEndpoint[] }) {
  return (
    <Table.ScrollContainer minWidth={720} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Endpoint</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Events</Table.Th>
            <Table.Th>Last 24 hours</Table.Th>
            <Table.Th>Last success</Table.Th>
            <Table.Th>Actions</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {endpoints.map((endpoint) => (
            <Row key={endpoint.endpoint_id} of={endpoint} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Row({ of }: { of: WebhookEndpoint }) {
  const { health } = of;
  const path = `/v1/webhook-endpoints/${of.endpoint_id}`;
  const queries = useQueryClient();
  const reload = () => queries.invalidateQueries({ queryKey: endpointsQuery.queryKey });
  const test = useMutation({
    mutationFn: () => call<EndpointTest>('POST', `${path}/test`),
    gcTime: 0,
  });
  const next = of.status === 'active' ? 'paused' : 'active';
  const change = useMutation({
    mutationFn: () => call('PATCH', path, { body: { status: next } }),
    onSuccess: reload,
    gcTime: 0,
  });
  const name = of.description || receiverOf(of);
  return (
    <Table.Tr>
      <Table.Td>
        {name}
        <Text size="xs" c="dimmed">
          {of.description === '' ? of.endpoint_id : receiverOf(of)}
        </Text>
        {test.error && <Failure error={test.error} title="No test event was sent" />}
        {change.error && <Failure error={change.error} title="The endpoint was not changed" />}
        {test.data && (
          <Alert color={test.data.delivered ? 'green' : 'red'} variant="light" role="status" p="xs">
            {test.data.delivered
              ? 'It accepted the test event.'
              : `It did not accept the test event: ${test.data.error ?? 'refused'}.`}
          </Alert>
        )}
      </Table.Td>
      <Table.Td>
        <State of={of.status} />
      </Table.Td>
      <Table.Td>{of.events?.join(', ') ?? 'all'}</Table.Td>
      <Table.Td>
        {countOf(health.delivered)} accepted, {countOf(health.refused)} not
        <Text size="xs" c="dimmed">
          {countOf(health.retrying)} waiting
          {health.last_error && `; last error: ${health.last_error}`}
        </Text>
      </Table.Td>
      <Table.Td>
        <Time value={health.last_success_at} as="ago" />
      </Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <Button
            size="compact-xs"
            variant="default"
            loading={test.isPending}
            aria-label={`Test ${name}`}
            onClick={() => test.mutate()}
          >
            Test
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            loading={change.isPending}
            aria-label={`${next === 'active' ? 'Resume' : 'Pause'} ${name}`}
            onClick={() => change.mutate()}
          >
            {next === 'active' ? 'Resume' : 'Pause'}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
