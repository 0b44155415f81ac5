// Test events: they are sent to a receiver, which answers at once, and this page lists its own.
import { Alert, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client';
import { endpointsQuery, useChange, type Work } from '../../api/queries';
import type { TestEvent } from '../../api/types';
import { IfMay } from '../../parts/allowed';
import { Panel, type Closing } from '../../parts/dialogs';
import { Facts, Failure, WorkButton } from '../../parts/layout';
import { Id, State, Time } from '../../parts/values';
import { outcomeOf, TEST_EVENT, type SentTest } from './rules';

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

export type SendTestWork = Work & { data: TestEvent | undefined };

/** The test events of this page, newest first. */
export const useSentTests = (): SentTest[] =>
  useQuery<SentTest[]>({ queryKey: SENT_KEY, enabled: false, gcTime: Infinity, initialData: [] })
    .data;

export const SendTestButton = ({ test }: { test: SendTestWork }) => (
  <IfMay scope="manage">
    <WorkButton variant="default" work={test}>
      Send a test event
    </WorkButton>
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

/** A test event that this page has sent. */
export const TestEventPanel = ({ test, onClose }: Closing<{ test: SentTest }>) => (
  <Panel onClose={onClose} title={TEST_EVENT}>
    <Stack gap="lg">
      <Facts
        of={[
          ['Delivery', <State of={test.delivered ? 'delivered' : 'failed'} />],
          ['Answer', outcomeOf(test)],
          ['Event ID', <Id of="event" text={test.event_id} />],
          ['Sent', <Time value={test.at} as="exact" />],
        ]}
      />
      <Text size="sm" c="dimmed">
        A test event is posted once and is not in the event log. This page lists those that it sent
        until it is closed.
      </Text>
    </Stack>
  </Panel>
);
