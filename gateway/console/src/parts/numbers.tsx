// The numbers of the clients: the name of one, the choice of one, and content about it.
import { Anchor, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useActiveNumbers } from '../api/queries';
import type { Client } from '../api/types';
import { nameOf } from '../attention';
import { FilterSelect } from './filter-fields';
import { useFilters } from './filters';
import { EmptyCard, Loaded } from './layout';

/** A number in a list: its phone number, with name and ID on hover. */
export function NumberName({ id }: { id: string | null | undefined }) {
  const { data: clients = [] } = useActiveNumbers();
  const client = clients.find(({ phone_number_id }) => phone_number_id === id);
  if (!client) return <>{id ?? '–'}</>;
  return <span title={`${nameOf(client)}, ID ${id}`}>+{client.phone_number}</span>;
}

export const nameAndNumber = (client: Client): string =>
  `${nameOf(client)} (+${client.phone_number})`;

const choicesOf = (clients: Client[]) =>
  clients.map((one) => ({ value: one.phone_number_id, label: nameAndNumber(one) }));

/** The number of the address, or the first one. */
export function useNumber(): Client | undefined {
  const { data: clients = [] } = useActiveNumbers();
  const [{ number }] = useFilters();
  return clients.find(({ phone_number_id }) => phone_number_id === number) ?? clients[0];
}

export function NumberSelect({ label = 'Number' }: { label?: string }) {
  const { data: clients = [] } = useActiveNumbers();
  const [, setFilters] = useFilters();
  return (
    <Select
      label={label}
      maw={360}
      data={choicesOf(clients)}
      value={useNumber()?.phone_number_id ?? null}
      onChange={(value) => setFilters({ number: value ?? undefined })}
      allowDeselect={false}
      searchable
    />
  );
}

/** The number of the address as a filter: all numbers without one. */
export function NumberFilter() {
  const { data: clients = [] } = useActiveNumbers();
  return (
    <FilterSelect name="number" label="Number" all="numbers" data={choicesOf(clients)} searchable />
  );
}

/** Content about the chosen number: what is missing instead, if there is none. */
export function WithNumber({ children }: { children: (client: Client) => ReactNode }) {
  const client = useNumber();
  const query = useActiveNumbers();
  if (client) return children(client);
  return (
    <Loaded query={query} what="your numbers">
      {() => (
        <EmptyCard title="No number is connected yet">
          <Anchor component={Link} to="/numbers">
            Connect a number
          </Anchor>{' '}
          first.
        </EmptyCard>
      )}
    </Loaded>
  );
}
