// The latest calls of the API: the request, its outcome, and the request id for support.
import { Button, Code, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { ReloadIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { requestsQuery } from '../../api/queries';
import type { LoggedRequest } from '../../api/types';
import { Card } from '../../parts/card';
import { Copy } from '../../parts/copy';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/loaded';
import { Rows, type Column } from '../../parts/rows';
import { useFilters } from '../../parts/search';
import { Time, zoned } from '../../parts/time';

const COLUMNS: Array<Column<LoggedRequest>> = [
  {
    title: 'Request',
    width: '1.6fr',
    cell: ({ method, path }) => (
      <Text span size="sm" ff="monospace">
        {method} {path}
      </Text>
    ),
  },
  { title: 'Status', width: '1fr', cell: (request) => <Outcome of={request} /> },
  {
    title: 'Duration',
    from: 'middle',
    width: '90px',
    cell: ({ duration_ms }) =>
      `${duration_ms < 10 ? duration_ms.toFixed(1) : Math.round(duration_ms)} ms`,
    labelled: true,
    figure: true,
  },
  {
    title: zoned('Time'),
    width: '130px',
    cell: ({ at }) => <Time value={at} as="row" />,
    labelled: true,
  },
  {
    title: 'Request ID',
    from: 'wide',
    width: '1.2fr',
    cell: ({ request_id }) => (
      <Group gap={4} wrap="nowrap">
        <Text span size="xs" ff="monospace" truncate title={request_id}>
          {request_id}
        </Text>
        <Copy text={request_id} label="Copy the request ID" />
      </Group>
    ),
  },
];

const colourOf = (status: number): string =>
  status >= 500 ? 'red' : status >= 400 ? 'orange' : 'green';

const Outcome = ({ of: { status, code, ignored } }: { of: LoggedRequest }) => (
  <Group gap={6}>
    <Code color={`var(--mantine-color-${colourOf(status)}-light)`}>{status}</Code>
    {code && <Text size="xs">{code}</Text>}
    {ignored && (
      <Text size="xs" c="dimmed">
        ignored: {ignored}
      </Text>
    )}
  </Group>
);

const CLASSES = [
  { value: '2', label: '2xx: done' },
  { value: '4', label: '4xx: refused' },
  { value: '5', label: '5xx: failed' },
];

const matches = ({ method, path }: LoggedRequest, find: string): boolean =>
  `${method} ${path}`.toLowerCase().includes(find.toLowerCase());

export function Requests() {
  const [{ find = '', status }, setFilters] = useFilters();
  const query = useQuery(requestsQuery);
  return (
    <Card
      title="Latest requests"
      aside={
        <Button
          variant="default"
          size="xs"
          leftSection={<ReloadIcon aria-hidden />}
          loading={query.isRefetching}
          onClick={() => void query.refetch()}
        >
          Reload
        </Button>
      }
    >
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          Your last 200 calls with the partner key, of the last day. Support asks for the request
          ID.
        </Text>
        <Group gap="xs">
          <TextInput
            type="search"
            aria-label="Find a path"
            placeholder="Method or path"
            defaultValue={find}
            onChange={(event) => setFilters({ find: event.currentTarget.value || undefined })}
            w={{ base: '100%', sm: 260 }}
          />
          <Select
            aria-label="Status"
            placeholder="All statuses"
            data={CLASSES}
            value={status ?? null}
            onChange={(value) => setFilters({ status: value ?? undefined })}
            clearable
            clearButtonProps={{ 'aria-label': 'Show all statuses' }}
          />
        </Group>
        <Loaded query={query} what="the requests">
          {(requests) => (
            <RequestList
              requests={requests.filter(
                (one) =>
                  matches(one, find) && (status === undefined || String(one.status)[0] === status),
              )}
              filtered={requests.length > 0}
            />
          )}
        </Loaded>
      </Stack>
    </Card>
  );
}

const RequestList = ({ requests, filtered }: { requests: LoggedRequest[]; filtered: boolean }) =>
  requests.length > 0 ? (
    <Rows
      label="Requests"
      columns={COLUMNS}
      rows={requests}
      keyOf={({ at, request_id }) => `${at}/${request_id}`}
    />
  ) : (
    <Empty title={filtered ? 'No request matches' : 'No request in the last day'}>
      {filtered
        ? 'Change the search or the status above.'
        : 'Run the quick start above: its request appears here.'}
    </Empty>
  );
