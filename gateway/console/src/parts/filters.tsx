// The filters of a screen are in its address, so that a link shows what the sender saw.
import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { PERIODS, type Period } from '../period';
import type { Search, TextFilter } from '../search';

export function useFilters(): [Search, (change: Partial<Search>) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  return [
    search,
    (change) =>
      void navigate({
        to: '.',
        search: (before: Search) => ({ ...before, ...change }),
        replace: true,
      }),
  ];
}

/** The item that is open beside the list, and how another one is opened or it is closed. */
export function useOpened() {
  const [{ open }, setFilters] = useFilters();
  const setOpened = (next: string | undefined): void => setFilters({ open: next });
  return { opened: open, setOpened, close: () => setOpened(undefined) };
}

/** How long typing must pause before the text takes effect. */
export const TYPING_MS = 400;

/** The text of a search field. The filter gets it, trimmed, once typing pauses. */
export function useTyped(name: TextFilter): [string, (text: string) => void] {
  const [{ [name]: filter }, setFilters] = useFilters();
  const [text, setText] = useState(filter ?? '');
  const wanted = text.trim();
  useEffect(() => {
    if (wanted === (filter ?? '')) return undefined;
    const timer = setTimeout(() => setFilters({ [name]: wanted || undefined }), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return [text, setText];
}

/** The moments at which the days of the address begin and end, for a query. */
export const momentsOf = ({ from, to }: Search): { from?: string; to?: string } => ({
  ...(from && { from: `${from}T00:00:00Z` }),
  ...(to && { to: `${to}T23:59:59.999Z` }),
});

interface StateFilterProps {
  /** What is shown without a filter. */
  usual: string;
  /** The label of each state. */
  states: Record<string, string>;
}

export function StateFilter({ usual, states }: StateFilterProps) {
  const [{ status = usual }, setFilters] = useFilters();
  return (
    <SegmentedControl
      aria-label="State"
      w="fit-content"
      value={status}
      onChange={(value) => setFilters({ status: value === usual ? undefined : value })}
      data={Object.entries(states).map(([value, label]) => ({ value, label }))}
    />
  );
}

export function PeriodFilter({ period }: { period: Period }) {
  const [, setFilters] = useFilters();
  return (
    <SegmentedControl
      aria-label="Period"
      value={period}
      onChange={(value) => setFilters({ period: value as Period })}
      data={PERIODS}
    />
  );
}
