import { Select } from '@mantine/core';
import { useActiveNumbers } from '../api/queries';
import type { Client } from '../api/types';
import { nameOf } from '../attention';
import { useFilters } from './search';

/** The number of the address, or the first one. */
export function useNumber(): { client: Client | undefined; clients: Client[] } {
  const { data: clients = [] } = useActiveNumbers();
  const [{ number }] = useFilters();
  const chosen = clients.find(({ phone_number_id }) => phone_number_id === number);
  return { client: chosen ?? clients[0], clients };
}

export function NumberSelect({ label = 'Number' }: { label?: string }) {
  const { client, clients } = useNumber();
  const [, setFilters] = useFilters();
  return (
    <Select
      label={label}
      maw={360}
      data={clients.map((one) => ({
        value: one.phone_number_id,
        label: `${nameOf(one)} (+${one.phone_number})`,
      }))}
      value={client?.phone_number_id ?? null}
      onChange={(value) => setFilters({ number: value ?? undefined })}
      allowDeselect={false}
      searchable
    />
  );
}

/** The number of the address as a filter: all numbers without one. */
export function NumberFilter() {
  const { clients } = useNumber();
  const [{ number }, setFilters] = useFilters();
  return (
    <Select
      label="Number"
      placeholder="All numbers"
      data={clients.map((one) => ({
        value: one.phone_number_id,
        label: `${nameOf(one)} (+${one.phone_number})`,
      }))}
      value={number ?? null}
      onChange={(value) => setFilters({ number: value ?? undefined })}
      clearable
      clearButtonProps={{ 'aria-label': 'Show all numbers' }}
      searchable
    />
  );
}
