import { Alert, Button, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useChange } from '../../api/change';
import { call } from '../../api/client';
import { endpointsQuery } from '../../api/queries';
import type { TestEvent } from '../../api/types';
import { IfMay } from '../../parts/allowed';
import { Failure } from '../../parts/failure';
import { outcomeOf, type SentTest } from './sent-tests';

const SENT_KEY = ['sent-tests'];
/** Beyond it, the oldest are dropped. */
const SENT_MAX = 20;

/** Sends one signed event to the receiver now. */
export function useSendTest() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => call<TestEvent>('POST', '/webhook-test'),
    onSuccess: (sent) =>
      queries.setQueryData<SentTest[]>(SENT_KEY, (before = []) =>
        [{ ...sent, at: new Date().toISOString() }, ...before].slice(0, SENT_MAX),
      ),
  });
}

/** Sends one to an endpoint, which the test may make active. */
export const useEndpointTest = (endpoint_id: string) =>
  useChange([endpointsQuery], () =>
    call<TestEvent>('POST', `/v1/webhook-endpoints/${endpoint_id}/test`),
  );

export interface SendTestWork {
  data: TestEvent | undefined;
  error: Error | null;
  isPending: boolean;
  mutate: () => void;
}

/** The test events of this page, newest first. */
export const useSentTests = (): SentTest[] =>
  useQuery<SentTest[]>({ queryKey: SENT_KEY, enabled: false, gcTime: Infinity, initialData: [] })
    .data;

export const SendTestButton = ({ test }: { test: SendTestWork }) => (
  <IfMay scope="manage">
    <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
      Send a test event
    </Button>
  </IfMay>
);

/** What the receiver answered, below the header of the screen. */
export const SendTestOutcome = ({ test }: { test: SendTestWork }) => (
  <>
    {test.error && <Failure error={test.error} title="No test event was sent" />}
    {test.data && <TestResult sent={test.data} />}
  </>
);

const TestResult = ({ sent }: { sent: TestEvent }) => (
  <Alert
    color={sent.delivered ? 'green' : 'red'}
    variant="light"
    role="status"
    title={
      sent.delivered ? 'Your receiver accepted the test event' : 'The test event was not accepted'
    }
  >
    <Text size="sm">{outcomeOf(sent)}</Text>
  </Alert>
);
