// The fields of filters, apart from their state: the first screen does without these components.
import { Group, Select, TextInput, type SelectProps, type TextInputProps } from '@mantine/core';
import type { ReactNode } from 'react';
import type { TextFilter } from '../search';
import { useFilters, useTyped } from './filters';

export const Filters = ({ children }: { children: ReactNode }) => (
  <Group gap="sm" align="flex-end" className="filters">
    {children}
  </Group>
);

interface FilterSelectProps extends SelectProps {
  name: TextFilter;
  /** What it chooses among, for what is shown without a choice and the button that clears it. */
  all?: string;
}

export function FilterSelect({ name, all, ...select }: FilterSelectProps) {
  const [{ [name]: filter }, setFilters] = useFilters();
  return (
    <Select
      placeholder={`All ${all}`}
      clearButtonProps={{ 'aria-label': `Show all ${all}` }}
      {...select}
      value={filter ?? null}
      onChange={(value) => setFilters({ [name]: value ?? undefined })}
      clearable
    />
  );
}

export function FilterText({ name, ...input }: TextInputProps & { name: TextFilter }) {
  const [text, setText] = useTyped(name);
  return (
    <TextInput {...input} value={text} onChange={(event) => setText(event.currentTarget.value)} />
  );
}

/** A whole UTC day. */
export function FilterDay({ name, label }: { name: TextFilter; label: string }) {
  const [{ [name]: day }, setFilters] = useFilters();
  return (
    <TextInput
      label={label}
      description="UTC"
      type="date"
      value={day ?? ''}
      onChange={(event) => setFilters({ [name]: event.currentTarget.value || undefined })}
    />
  );
}

export const FilterDays = () => (
  <>
    <FilterDay name="from" label="From" />
    <FilterDay name="to" label="To" />
  </>
);
