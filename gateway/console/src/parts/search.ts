// The filters of a screen are in its address, so that a link shows what the sender saw.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Search } from '../search';

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

/** How long typing must pause before the text takes effect. */
export const TYPING_MS = 400;

/** The text of a search field. The filter gets it, trimmed, once typing pauses. */
export function useTyped(
  filter: string | undefined,
  setFilter: (text: string | undefined) => void,
): [string, (text: string) => void] {
  const [text, setText] = useState(filter ?? '');
  const wanted = text.trim();
  useEffect(() => {
    if (wanted === (filter ?? '')) return undefined;
    const timer = setTimeout(() => setFilter(wanted || undefined), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return [text, setText];
}
