// What is read: its data, its error with the request ID for support, or its skeleton.
import { Alert, Anchor, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import { ExclamationTriangleIcon } from '@radix-ui/react-icons';
import type { ReactNode } from 'react';
import type { ApiFailure } from '../api/client';
import { Copy } from './values';

interface FailureProps {
  error: Error;
  /** The failure, for example "The numbers could not be loaded." */
  title?: string;
  retry?: () => void;
}

/** An error with its request id, for support. */
export function Failure({ error, title, retry }: FailureProps) {
  const { code, request_id, payment_url } = error as Partial<ApiFailure>;
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      icon={<ExclamationTriangleIcon aria-hidden />}
      title={title ?? 'That did not work'}
    >
      <Text size="sm">{error.message}</Text>
      <Group gap="xs" mt="xs">
        {code && <Code>{code}</Code>}
        {request_id && (
          <>
            <Text size="xs">Request</Text>
            <Code>{request_id}</Code>
            <Copy text={request_id} label="Copy the request ID" />
          </>
        )}
        {payment_url && (
          <Anchor href={payment_url} size="sm" target="_blank" rel="noreferrer">
            Open the payment page
          </Anchor>
        )}
        {retry && (
          <Button size="compact-sm" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

interface LoadedProps<T> {
  query: { data: T | undefined; error: Error | null; refetch: () => unknown };
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

/** The errors of queries whose data is shown elsewhere. */
export const FailuresOf = ({
  queries,
  what,
}: {
  queries: Array<LoadedProps<unknown>['query']>;
  what: string;
}) =>
  queries.map(
    (query, at) =>
      query.error && (
        <Loaded key={at} query={query} what={what}>
          {() => null}
        </Loaded>
      ),
  );
