// Every client number, its state, and its actions.
import { Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { PlusIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { clientsQuery } from '../api/queries';
import type { Client } from '../api/types';
import { nameOf } from '../attention';
import { IfMay } from '../parts/allowed';
import { Card } from '../parts/card';
import { Empty } from '../parts/empty';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { Rows, type Column } from '../parts/rows';
import { useFilters } from '../parts/search';
import { State } from '../parts/state';
import { Time } from '../parts/time';
import { ConnectNumber } from './numbers/connect';
import { SyncCell } from './numbers/data-sync';
import { NumberDrawer } from './numbers/drawer';
import { limitOf } from './numbers/limit';

export const keyOf = ({ waba_id, phone_number_id }: Client): string =>
  `${waba_id}/${phone_number_id}`;

const COLUMNS: Array<Column<Client>> = [
  { title: 'Name', width: '1.6fr', cell: nameOf },
  { title: 'Number', width: '1.2fr', cell: ({ phone_number }) => `+${phone_number}` },
  {
    title: 'State',
    width: '110px',
    cell: ({ status, health }) => (
      <State of={status === 'deleted' ? 'deleted' : (health ?? 'active')} />
    ),
  },
  {
    title: 'Quality',
    from: 'middle',
    width: '100px',
    cell: ({ quality_rating }) => <State of={quality_rating} />,
    labelled: true,
  },
  {
    title: 'Limit',
    from: 'wide',
    width: '110px',
    cell: ({ messaging_limit_tier }) => limitOf(messaging_limit_tier),
    labelled: true,
  },
  {
    title: 'Data sync',
    from: 'wide',
    width: '120px',
    cell: ({ data_sync }) => <SyncCell sync={data_sync} />,
    labelled: true,
  },
  {
    title: 'Last activity',
    from: 'middle',
    width: '130px',
    cell: ({ last_activity_at }) => <Time value={last_activity_at} as="ago" />,
    labelled: true,
  },
];

const REFRESH_MS = 10_000;
/** A history that has stopped for longer is not followed. */
const FOLLOW_MS = 3_600_000;

const isSyncing = ({ data_sync }: Client): boolean => {
  const { progress, error, received_at } = data_sync?.history ?? {};
  if (received_at === undefined || error || progress === 100) return false;
  return Date.now() - Date.parse(received_at) < FOLLOW_MS;
};

const matches = (client: Client, find: string): boolean =>
  [client.display_name, client.phone_number, client.waba_id, client.phone_number_id].some((text) =>
    text.toLowerCase().includes(find.toLowerCase().replace(/^\+/, '')),
  );

export function Screen() {
  const [{ find = '', status = 'active', open }, setFilters] = useFilters();
  const [connecting, connect] = useDisclosure();
  const query = useQuery({
    ...clientsQuery,
    refetchInterval: ({ state }) => state.data?.some(isSyncing) && REFRESH_MS,
  });
  const shown = query.data?.find((client) => keyOf(client) === open);
  return (
    <Page
      title="Numbers"
      description="The numbers of your clients. One business account can have several."
      actions={
        <IfMay scope="manage">
          <Button leftSection={<PlusIcon aria-hidden />} onClick={connect.open}>
            Connect a number
          </Button>
        </IfMay>
      }
    >
      <Stack gap="sm">
        <FilterBar find={find} status={status} onChange={setFilters} />
        <Loaded query={query} what="the numbers">
          {(clients) => (
            <NumberList
              clients={clients.filter(
                (client) => (status === 'all' || client.status === status) && matches(client, find),
              )}
              filtered={clients.length > 0}
              onOpen={(client) => setFilters({ open: keyOf(client) })}
            />
          )}
        </Loaded>
      </Stack>
      {connecting && <ConnectNumber onClose={connect.close} />}
      {shown && <NumberDrawer client={shown} onClose={() => setFilters({ open: undefined })} />}
    </Page>
  );
}

interface FilterBarProps {
  find: string;
  status: string;
  onChange: (change: { find?: string | undefined; status?: string | undefined }) => void;
}

const FilterBar = ({ find, status, onChange }: FilterBarProps) => (
  <Group gap="xs">
    <TextInput
      type="search"
      aria-label="Find a number"
      placeholder="Name, number or ID"
      defaultValue={find}
      onChange={(event) => onChange({ find: event.currentTarget.value || undefined })}
      w={{ base: '100%', sm: 300 }}
    />
    <SegmentedControl
      aria-label="State"
      w="fit-content"
      value={status}
      onChange={(value) => onChange({ status: value === 'active' ? undefined : value })}
      data={[
        { value: 'active', label: 'Active' },
        { value: 'deleted', label: 'Deleted' },
        { value: 'all', label: 'All' },
      ]}
    />
  </Group>
);

interface NumberListProps {
  clients: Client[];
  filtered: boolean;
  onOpen: (client: Client) => void;
}

const NumberList = ({ clients, filtered, onOpen }: NumberListProps) =>
  clients.length > 0 ? (
    <Rows label="Numbers" columns={COLUMNS} rows={clients} keyOf={keyOf} onOpen={onOpen} />
  ) : (
    <Card>
      <Empty title={filtered ? 'No number matches' : 'No number is connected yet'}>
        {filtered
          ? 'Change the search or the state above.'
          : '“Connect a number” makes a link for your client. The number stays in use in the business app.'}
      </Empty>
    </Card>
  );
