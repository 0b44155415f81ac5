import { Alert, Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client';
import type { TestEvent } from '../../api/types';
import { Failure } from '../../parts/failure';

/** Sends one signed event to the receiver now and shows the response. */
export function SendTest() {
  const test = useMutation({ mutationFn: () => call<TestEvent>('POST', '/webhook-test') });
  return (
    <>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        Send a test event
      </Button>
      {(test.data || test.error) && (
        <Group w="100%">
          {test.error && <Failure error={test.error} title="No test event was sent" />}
          {test.data && <TestResult sent={test.data} />}
        </Group>
      )}
    </>
  );
}

export const TestResult = ({ sent }: { sent: TestEvent }) => (
  <Alert
    color={sent.delivered ? 'green' : 'red'}
    role="status"
    title={
      sent.delivered ? 'Your receiver accepted the test event' : 'The test event was not accepted'
    }
  >
    <Text size="sm">
      {sent.http_status !== null && `HTTP ${sent.http_status} `}
      after {Math.round(sent.duration_ms)} ms. {sent.error}
    </Text>
  </Alert>
);
