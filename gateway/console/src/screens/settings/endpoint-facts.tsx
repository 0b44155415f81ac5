import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { WebhookEndpoint } from '../../api/types';
import { receiverOf } from '../../attention';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { countOf, nounOf } from '../../period';

const FORMATS: Readonly<Record<WebhookEndpoint['format'], string | null>> = {
  envelope: null,
  'cloudevents-structured': 'CloudEvents, structured',
  'cloudevents-binary': 'CloudEvents, binary',
};

const listOf = (ids: readonly string[] | null): string | null => ids && ids.join(', ');

/** How the deliveries of an endpoint go, and the limits that only the API sets. */
export const EndpointFacts = ({ of: endpoint }: { of: WebhookEndpoint }) => (
  <Facts
    of={[
      ['State', <State of={endpoint.status} />],
      ['Goes to', receiverOf(endpoint)],
      [
        'Endpoint ID',
        <span>
          {endpoint.endpoint_id} <Copy text={endpoint.endpoint_id} label="Copy the endpoint ID" />
        </span>,
      ],
      ['Events', endpoint.events?.join(', ') ?? 'all but the extra ones'],
      ...healthOf(endpoint.health),
      ['Only the accounts', listOf(endpoint.waba_ids)],
      ['Only the numbers', listOf(endpoint.phone_number_ids)],
      ['Own headers', listOf(endpoint.header_names) || null],
      ['At most', endpoint.max_per_second && `${countOf(endpoint.max_per_second)} in a second`],
      [
        'Order',
        endpoint.ordered ? null : 'the events of a conversation do not wait for each other',
      ],
      ['Format', FORMATS[endpoint.format]],
      [
        'Old secret signs until',
        endpoint.previous_secret_expires_at && <Time value={endpoint.previous_secret_expires_at} />,
      ],
      ['Created', <Time value={endpoint.created_at} />],
    ]}
  />
);

const healthOf = (health: WebhookEndpoint['health']) =>
  [
    [
      'Last 24 hours',
      `${nounOf(health.delivered, 'attempt')} accepted, ${countOf(health.refused)} not`,
    ],
    ['Waiting', nounOf(health.retrying, 'event')],
    [
      'Given up',
      health.failed === 0 ? null : (
        <Anchor component={Link} to="/events/failed" size="sm">
          {nounOf(health.failed, 'event')}
        </Anchor>
      ),
    ],
    ['Last success', <Time value={health.last_success_at} as="exact" />],
    ['Failing since', health.failing_since && <Time value={health.failing_since} as="exact" />],
    [
      'Last error',
      health.last_error && (
        <Text span size="sm" className={health.failing_since ? 'refused' : undefined}>
          {health.last_error}
        </Text>
      ),
    ],
  ] as const;
