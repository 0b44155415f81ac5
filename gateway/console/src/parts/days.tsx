// A period in whole UTC days, as two fields of a screen's filters.
import { TextInput } from '@mantine/core';
import type { Search } from '../search';
import { useFilters } from './search';

/** The moments at which the days of the address begin and end, for a query. */
export const momentsOf = ({ from, to }: Search): { from?: string; to?: string } => ({
  ...(from && { from: `${from}T00:00:00Z` }),
  ...(to && { to: `${to}T23:59:59.999Z` }),
});

const FIELDS = [
  { name: 'from', label: 'From' },
  { name: 'to', label: 'To' },
] as const;

export function DayFields() {
  const [filters, setFilters] = useFilters();
  return FIELDS.map(({ name, label }) => (
    <TextInput
      key={name}
      label={label}
      description="UTC"
      type="date"
      value={filters[name] ?? ''}
      onChange={(event) => setFilters({ [name]: event.currentTarget.value || undefined })}
    />
  ));
}
