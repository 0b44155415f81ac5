import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure';

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  /** What is loaded, for the error: "the numbers". */
  what: string;
  lines?: number;
  children: (data: T) => ReactNode;
}

/** A query's data, its error or its skeleton. Data that was read before stays while it is read again. */
export function Loaded<T>({ query, what, lines = 4, children }: LoadedProps<T>) {
  const { data, error, refetch } = query;
  return (
    <>
      {error && (
        <Failure error={error} title={`Failed to load ${what}`} retry={() => void refetch()} />
      )}
      {data !== undefined && children(data)}
      {data === undefined && !error && (
        <Stack gap="sm" aria-busy aria-label={`Loading ${what}`} role="status">
          {Array.from({ length: lines }, (_, line) => (
            <Skeleton key={line} height={28} radius="sm" />
          ))}
        </Stack>
      )}
    </>
  );
}
