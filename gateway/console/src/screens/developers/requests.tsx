// The request log: the calls of the API in the last 30 days, found by endpoint, status, key and
// request ID.
import { Button, Group, Stack, Text } from '@mantine/core';
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
import { Filters, FilterSelect, FilterText } from '../../parts/filter-fields';
import { useFilters, useOpened } from '../../parts/filters';
import { Card, Empty, Hint, Loaded } from '../../parts/layout';
import { type Column, column, Rows, timeColumn } from '../../parts/rows';
import type { Search } from '../../search';
import { Outcome, RequestPanel, tookOf } from './request-panel';

const COLUMNS: Array<Column<LoggedRequest>> = [
  column('Request', '2.2fr', ({ method, path }) => (
    <Text span size="sm" ff="monospace" truncate title={`${method} ${path}`}>
      {method} {path}
    </Text>
  )),
  column(
    'Status',
    '1fr',
    (request) => (
      <Group gap={6}>
        <Outcome of={request} />
        {request.ignored && <Hint>ignored: {request.ignored}</Hint>}
      </Group>
    ),
    { bare: true },
  ),
  column('Duration', '90px', tookOf, { from: 'middle', figure: true }),
  timeColumn('Time', ({ at }) => at),
  column(
    'Request ID',
    '1fr',
    ({ request_id }) => (
      <Text size="xs" ff="monospace" truncate title={request_id}>
        {request_id}
      </Text>
    ),
    { from: 'wide', bare: true },
  ),
];

const filterOf = ({ find, endpoint, status, key }: Search): RequestFilter => ({
  request_id: find?.trim(),
  endpoint,
  status,
  key_id: key,
});

export function Requests() {
  const [filters] = useFilters();
  const { opened, setOpened, close } = useOpened();
  const filter = filterOf(filters);
  const filtered = Object.values(filter).some((value) => value !== undefined);
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
        <RequestFilters />
        <Loaded query={query} what="the requests">
          {() => (
            <Rows
              label="Requests"
              columns={COLUMNS}
              rows={requests}
              keyOf={({ id }) => id}
              onOpen={({ id }) => setOpened(id)}
              paging={query}
              empty={
                <Empty title={filtered ? 'No request matches' : 'No request in the last 30 days'}>
                  {filtered
                    ? 'Change the filters above.'
                    : 'Run the quick start above: its request appears here.'}
                </Empty>
              }
            />
          )}
        </Loaded>
      </Stack>
      {opened && (
        <RequestPanel
          key={opened}
          id={opened}
          listed={requests.find(({ id }) => id === opened)}
          onClose={close}
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

function RequestFilters() {
  const { data: endpoints = [] } = useQuery(requestEndpointsQuery);
  const may_see_keys = useMay()('manage');
  const { data: keys = [] } = useQuery({ ...keysQuery, enabled: may_see_keys });
  return (
    <Filters>
      <FilterSelect name="endpoint" label="Endpoint" all="endpoints" data={endpoints} searchable />
      <FilterSelect name="status" label="Status" all="statuses" data={CLASSES} />
      {may_see_keys && (
        <FilterSelect
          name="key"
          label="API key"
          all="keys"
          data={[
            { value: 'partner_key', label: 'Partner key' },
            ...keys.map(({ key_id, name }) => ({ value: key_id, label: name })),
          ]}
        />
      )}
      <FilterText name="find" type="search" label="Request ID" />
    </Filters>
  );
}
