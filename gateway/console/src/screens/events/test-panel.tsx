import { Stack, Text } from '@mantine/core';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { Panel } from '../../parts/panel';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { outcomeOf, TEST_EVENT, type SentTest } from './sent-tests';

/** A test event that this page has sent. */
export const TestEventPanel = ({ test, onClose }: { test: SentTest; onClose: () => void }) => (
  <Panel onClose={onClose} title={TEST_EVENT}>
    <Stack gap="lg">
      <Facts
        of={[
          ['Delivery', <State of={test.delivered ? 'delivered' : 'failed'} />],
          ['Answer', outcomeOf(test)],
          [
            'Event ID',
            <span>
              {test.event_id} <Copy text={test.event_id} label="Copy the event ID" />
            </span>,
          ],
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
