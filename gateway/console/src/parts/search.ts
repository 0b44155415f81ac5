// The filters of a screen are in its address, so that a link shows what the sender saw.
import { useNavigate, useSearch } from '@tanstack/react-router';
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
