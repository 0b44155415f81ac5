import { useMutation, useQueryClient } from '@tanstack/react-query';

/**
 * A change, after which the queries that show it are loaded again. What it answers is forgotten
 * with the component: it may be a secret.
 */
export function useChange<T, V = void>(
  queries: ReadonlyArray<{ queryKey: readonly unknown[] }>,
  change: (given: V) => Promise<T>,
  onSuccess?: () => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      onSuccess?.();
      await Promise.all(queries.map(({ queryKey }) => client.invalidateQueries({ queryKey })));
    },
    gcTime: 0,
  });
}
