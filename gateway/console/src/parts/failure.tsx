import { Alert, Anchor, Button, Code, Group, Text } from '@mantine/core';
import { ExclamationTriangleIcon } from '@radix-ui/react-icons';
import type { ApiFailure } from '../api/client';
import { Copy } from './copy';

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
