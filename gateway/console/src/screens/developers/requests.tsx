// The request log: the calls of the API in the last 30 days, found by endpoint, status, key and
// request ID.
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { ReloadIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import {
  keysQuery,
  requestEndpointsQuery,
  requestsQuery,
  useMay,
  type RequestFilter,
} from '../../api/queries';
import type { LoggedRequest } from '../../api/types';
import { Card } from '../../parts/card';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/loaded';
import { Rows, type Column } from '../../parts/rows';
import { useFilters, useTyped } from '../../parts/search';
import { Time, zoned } from '../../parts/time';
import type { Search } from '../../search';
import { Outcome, RequestPanel, tookOf } from './request-panel';

const COLUMNS: Array<Column<LoggedRequest>> = [
  {
    title: 'Request',
    width: '2.2fr',
    cell: ({ method, path }) => (
      <Text span size="sm" ff="monospace" truncate title={`${method} ${path}`}>
        {method} {path}
      </Text>
    ),
  },
  {
    title: 'Status',
    width: '1fr',
    cell: (request) => (
      <Group gap={6}>
        <Outcome of={request} />
        {request.ignored && (
          <Text size="xs" c="dimmed">
            ignored: {request.ignored}
          </Text>
        )}
      </Group>
    ),
  },
  {
    title: 'Duration',
    from: 'middle',
    width: '90px',
    cell: tookOf,
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
    width: '1fr',
    cell: ({ request_id }) => (
      <Text size="xs" ff="monospace" truncate title={request_id}>
        {request_id}
      </Text>
    ),
  },
];

const filterOf = ({ find, endpoint, status, key }: Search): RequestFilter => ({
  request_id: find?.trim(),
  endpoint,
  status,
  key_id: key,
});

export function Requests() {
  const [filters, setFilters] = useFilters();
  const filter = filterOf(filters);
  const query = useInfiniteQuery(requestsQuery(filter));
  const requests = query.data?.pages.flatMap((page) => page.requests) ?? [];
  return (
    <Card
      title="Requests"
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
          Calls with your keys in the last 30 days; if you send many a minute, a share of them, with
          most of the failed ones. Texts, phone numbers and secrets are not stored.
        </Text>
        <Filters />
        <Loaded query={query as never} what="the requests">
          {() => (
            <RequestList
              requests={requests}
              filtered={Object.values(filter).some((value) => value !== undefined)}
              onOpen={({ id }) => setFilters({ open: id })}
              onEnd={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
            />
          )}
        </Loaded>
      </Stack>
      {filters.open && (
        <RequestPanel
          key={filters.open}
          id={filters.open}
          listed={requests.find(({ id }) => id === filters.open)}
          onClose={() => setFilters({ open: undefined })}
        />
      )}
    </Card>
  );
}

const CLASSES = [
  { value: '2', label: '2xx: done' },
  { value: '4', label: '4xx: refused' },
  { value: '5', label: '5xx: failed' },
  { value: 'failed', label: 'Refused or failed' },
];

function Filters() {
  const [{ find, endpoint, status }, setFilters] = useFilters();
  const { data: endpoints = [] } = useQuery(requestEndpointsQuery);
  const [text, setText] = useTyped(find, (wanted) => setFilters({ find: wanted }));
  const may = useMay();
  return (
    <Group gap="sm" align="flex-end" className="filters">
      <Select
        label="Endpoint"
        placeholder="All endpoints"
        data={endpoints}
        value={endpoint ?? null}
        onChange={(value) => setFilters({ endpoint: value ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Show all endpoints' }}
        searchable
      />
      <Select
        label="Status"
        placeholder="All statuses"
        data={CLASSES}
        value={status ?? null}
        onChange={(value) => setFilters({ status: value ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Show all statuses' }}
      />
      {may('manage') && <KeyFilter />}
      <TextInput
        type="search"
        label="Request ID"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </Group>
  );
}

function KeyFilter() {
  const [{ key }, setFilters] = useFilters();
  const { keys = [] } = useQuery(keysQuery).data ?? {};
  return (
    <Select
      label="API key"
      placeholder="All keys"
      data={[
        { value: 'partner_key', label: 'Partner key' },
        ...keys.map(({ key_id, name }) => ({ value: key_id, label: name })),
      ]}
      value={key ?? null}
      onChange={(value) => setFilters({ key: value ?? undefined })}
      clearable
      clearButtonProps={{ 'aria-label': 'Show all keys' }}
    />
  );
}

interface ListProps {
  requests: LoggedRequest[];
  filtered: boolean;
  onOpen: (request: LoggedRequest) => void;
  onEnd: (() => void) | undefined;
}

const RequestList = ({ requests, filtered, onOpen, onEnd }: ListProps) =>
  requests.length > 0 ? (
    <Rows
      label="Requests"
      columns={COLUMNS}
      rows={requests}
      keyOf={({ id }) => id}
      onOpen={onOpen}
      onEnd={onEnd}
    />
  ) : (
    <Empty title={filtered ? 'No request matches' : 'No request in the last 30 days'}>
      {filtered
        ? 'Change the filters above.'
        : 'Run the quick start above: its request appears here.'}
    </Empty>
  );
