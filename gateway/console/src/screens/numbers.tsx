// Every client number, its state, and its actions.
import { Group, Stack, TextInput } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { clientsQuery } from '../api/queries';
import type { Client } from '../api/types';
import { nameOf } from '../attention';
import { limitOf } from '../number-days';
import { IfMay } from '../parts/allowed';
import { Opens } from '../parts/dialogs';
import { StateFilter, useFilters, useOpened } from '../parts/filters';
import { EmptyCard, Loaded, Page } from '../parts/layout';
import { agoColumn, type Column, column, Rows } from '../parts/rows';
import { State } from '../parts/values';
import { ConnectNumber } from './numbers/connect';
import { SyncCell } from './numbers/data-sync';
import { NumberDrawer } from './numbers/drawer';

const keyOf = ({ waba_id, phone_number_id }: Client): string => `${waba_id}/${phone_number_id}`;

const COLUMNS: Array<Column<Client>> = [
  column('Name', '1.6fr', nameOf),
  column('Number', '1.2fr', ({ phone_number }) => `+${phone_number}`, { bare: true }),
  column(
    'State',
    '110px',
    ({ status, health }) => <State of={status === 'deleted' ? 'deleted' : (health ?? 'active')} />,
    { bare: true },
  ),
  column('Quality', '100px', ({ quality_rating }) => <State of={quality_rating} />, {
    from: 'middle',
  }),
  column('Limit', '110px', ({ messaging_limit_tier }) => limitOf(messaging_limit_tier), {
    from: 'wide',
  }),
  column('Data sync', '120px', ({ data_sync }) => <SyncCell sync={data_sync} />, { from: 'wide' }),
  agoColumn('Last activity', ({ last_activity_at }) => last_activity_at, { from: 'middle' }),
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
  const [{ find = '', status = 'active' }, setFilters] = useFilters();
  const { opened, setOpened, close } = useOpened();
  const query = useQuery({
    ...clientsQuery,
    refetchInterval: ({ state }) => state.data?.some(isSyncing) && REFRESH_MS,
  });
  const shown = query.data?.find((client) => keyOf(client) === opened);
  const passes = (client: Client): boolean =>
    (status === 'all' || client.status === status) && matches(client, find);
  return (
    <Page
      title="Numbers"
      description="The numbers of your clients. One business account can have several."
      actions={
        <IfMay scope="manage">
          <Opens label="Connect a number" variant="filled" leftSection={<PlusIcon aria-hidden />}>
            {(end) => <ConnectNumber onClose={end} />}
          </Opens>
        </IfMay>
      }
    >
      <Stack gap="sm">
        <Group gap="xs">
          <TextInput
            type="search"
            aria-label="Find a number"
            placeholder="Name, number or ID"
            defaultValue={find}
            onChange={(event) => setFilters({ find: event.currentTarget.value || undefined })}
            w={{ base: '100%', sm: 300 }}
          />
          <StateFilter
            usual="active"
            states={{ active: 'Active', deleted: 'Deleted', all: 'All' }}
          />
        </Group>
        <Loaded query={query} what="the numbers">
          {(clients) => (
            <Rows
              label="Numbers"
              columns={COLUMNS}
              rows={clients.filter(passes)}
              keyOf={keyOf}
              onOpen={(client) => setOpened(keyOf(client))}
              empty={<NoNumber filtered={clients.length > 0} />}
            />
          )}
        </Loaded>
      </Stack>
      {shown && <NumberDrawer client={shown} onClose={close} />}
    </Page>
  );
}

const NoNumber = ({ filtered }: { filtered: boolean }) => (
  <EmptyCard title={filtered ? 'No number matches' : 'No number is connected yet'}>
    {filtered
      ? 'Change the search or the state above.'
      : '“Connect a number” makes a link for your client. The number stays in use in the business app.'}
  </EmptyCard>
);
