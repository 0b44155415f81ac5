// One webhook endpoint: how its deliveries go, what it gets, and its latest attempts.
import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client';
import {
  ATTEMPTS_REFRESH_MS,
  endpointAttemptsQuery,
  endpointsQuery,
  useChange,
} from '../../api/queries';
import type { EndpointAttempt, WebhookEndpoint } from '../../api/types';
import { receiverOf } from '../../attention';
import { isSame, type EventFilter } from '../../event-filter';
import { IfMay } from '../../parts/allowed';
import { Card, EmptyCard, Facts, Failure, Loaded, TextLink } from '../../parts/layout';
import { Id, State, Time, timeIfAny } from '../../parts/values';
import { countOf, nounOf } from '../../period';
import { answerOf } from '../events/rules';
import { SendTestOutcome, useEndpointTest } from '../events/send-test';
import { Attempts, type ListedAttempt } from './attempts';
import { AddressField, DescriptionField, DestinationsGuide } from './create-endpoint';
import { EndpointActions, pathOf, usePause } from './endpoint-actions';
import { FilterField } from './event-choice';
import { SaveForm, SettingsPage, withRefusals } from './page';
import { nameOf } from './receiver-rows';

const TO = '/settings/receivers';

export function Screen() {
  const { endpoint_id } = useParams({ strict: false });
  const query = useQuery(endpointsQuery);
  // Not read by its ID: a browser reports a 404 as an error.
  const found = query.data?.find((one) => one.endpoint_id === endpoint_id);
  if (found) return <Endpoint key={found.endpoint_id} of={found} />;
  return (
    <SettingsPage to={TO} title="Webhook endpoint">
      <Loaded query={query} what="the webhook endpoint">
        {() => (
          <EmptyCard title="There is no such endpoint">
            It may have been deleted. <TextLink to={TO}>See all receivers</TextLink>
          </EmptyCard>
        )}
      </Loaded>
    </SettingsPage>
  );
}

const HINTS: Readonly<Record<string, string>> = {
  untested:
    'It gets no events until it answers a test event with 2xx. The gateway sends a few by itself; you can send one now.',
  paused: 'It gets nothing. Its events of the last two days are delivered when you resume it.',
  disabled:
    'The gateway disabled it after five days without a success. Repair it, enable it, then replay what it missed.',
};

function Endpoint({ of: endpoint }: { of: WebhookEndpoint }) {
  const attempts = useQuery({
    ...endpointAttemptsQuery(endpoint.endpoint_id),
    refetchInterval: ATTEMPTS_REFRESH_MS,
  });
  const test = useEndpointTest(endpoint.endpoint_id);
  const pause = usePause(endpoint);
  return (
    <SettingsPage
      to={TO}
      title={nameOf(endpoint)}
      description={HINTS[endpoint.status]}
      actions={
        <IfMay scope="manage">
          <EndpointActions endpoint={endpoint} test={test} pause={pause} />
        </IfMay>
      }
    >
      <SendTestOutcome test={test} />
      {pause.error && <Failure error={pause.error} title="The endpoint was not changed" />}
      <Card title="Deliveries">
        <EndpointFacts of={endpoint} />
      </Card>
      <IfMay scope="manage">
        <EndpointForm endpoint={endpoint} />
      </IfMay>
      <Title order={2} size="h5">
        Latest attempts
      </Title>
      <Loaded query={attempts} what="the latest attempts">
        {(made) => <Attempts attempts={made.map(listed)} endpoint_id={endpoint.endpoint_id} />}
      </Loaded>
    </SettingsPage>
  );
}

const FORMATS: Readonly<Record<WebhookEndpoint['format'], string | null>> = {
  envelope: null,
  'cloudevents-structured': 'CloudEvents, structured',
  'cloudevents-binary': 'CloudEvents, binary',
};

const listOf = (ids: readonly string[] | null): string | null => ids && ids.join(', ');

/** How the deliveries of an endpoint go, and the limits that only the API sets. */
const EndpointFacts = ({ of: endpoint }: { of: WebhookEndpoint }) => (
  <Facts
    of={[
      ['State', <State of={endpoint.status} />],
      ['Goes to', receiverOf(endpoint)],
      ['Endpoint ID', <Id of="endpoint" text={endpoint.endpoint_id} />],
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
      ['Old secret signs until', timeIfAny(endpoint.previous_secret_expires_at)],
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
        <TextLink to="/events/failed">{nounOf(health.failed, 'event')}</TextLink>
      ),
    ],
    ['Last success', <Time value={health.last_success_at} as="exact" />],
    ['Failing since', timeIfAny(health.failing_since, 'exact')],
    [
      'Last error',
      health.last_error && (
        <Text span size="sm" className={health.failing_since ? 'refused' : undefined}>
          {health.last_error}
        </Text>
      ),
    ],
  ] as const;

const listed = (one: EndpointAttempt): ListedAttempt => ({
  key: `${one.event_id}/${one.number}/${one.at}`,
  event_id: one.event_id,
  event: one.event,
  at: one.at,
  status: one.delivered ? 'delivered' : 'failed',
  answer: one.number > 1 ? `${answerOf(one)}, attempt ${one.number}` : answerOf(one),
  duration_ms: one.duration_ms,
});

/** Changes what differs only: a new address is tested first. */
function EndpointForm({ endpoint }: { endpoint: WebhookEndpoint }) {
  const [description, setDescription] = useState(endpoint.description);
  const [url, setUrl] = useState(endpoint.url ?? '');
  const [events, setEvents] = useState<EventFilter>(endpoint.events);
  const changes = {
    ...(description.trim() !== endpoint.description && { description: description.trim() }),
    ...(url.trim() !== (endpoint.url ?? '') && { url: url.trim() }),
    ...(!isSame(events, endpoint.events) && { events }),
  };
  const change = useChange([endpointsQuery], () =>
    call('PATCH', pathOf(endpoint), { body: changes }),
  );
  const saving = withRefusals(change);
  return (
    <Card title="Settings">
      <SaveForm
        {...saving}
        action="Save"
        what="The endpoint was"
        fields={['description', 'url', 'events']}
        is_saved={Object.keys(changes).length === 0}
      >
        <DescriptionField
          value={description}
          onChange={setDescription}
          error={saving.refusalOf('description')}
        />
        {endpoint.url === null ? (
          <Text size="sm">
            Its topic, queue or bucket is changed with the API: <DestinationsGuide />
          </Text>
        ) : (
          <AddressField
            description="A new address must answer a signed test event with 2xx before it is saved."
            value={url}
            onChange={setUrl}
            error={saving.refusalOf('url')}
          />
        )}
        <FilterField filter={events} onChange={setEvents} error={saving.refusalOf('events')} />
      </SaveForm>
    </Card>
  );
}
