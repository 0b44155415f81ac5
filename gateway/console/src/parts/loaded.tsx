import { Skeleton, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiFailure } from '../api/client';
import { Failure } from './failure';

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  /** The name of the data, for the error: "the numbers". */
  what: string;
  lines?: number;
  children: (data: T) => ReactNode;
}

/** A query's data, its error or its skeleton. Earlier data stays visible while it is read again. */
export function Loaded<T>({ query, what, lines = 4, children }: LoadedProps<T>) {
  const { data, error, refetch } = query;
  if ((error as Partial<ApiFailure> | null)?.code === 'SCOPE_MISSING') {
    return (
      <Text size="sm" c="dimmed">
        Your role does not include {what}.
      </Text>
    );
  }
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
