// One webhook endpoint: how its deliveries go, what it gets, and its latest attempts.
import { Anchor, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client';
import { endpointAttemptsQuery, endpointsQuery } from '../../api/queries';
import type { EndpointAttempt, WebhookEndpoint } from '../../api/types';
import { isSame, type EventFilter } from '../../event-filter';
import { IfMay } from '../../parts/allowed';
import { Card } from '../../parts/card';
import { Empty } from '../../parts/empty';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { answerOf } from '../events/attempts';
import { SendTestOutcome, useEndpointTest } from '../events/send-test';
import { Attempts, type ListedAttempt } from './attempts';
import { EndpointActions, usePause } from './endpoint-actions';
import { EndpointFacts } from './endpoint-facts';
import { AddressField, DescriptionField, DestinationsGuide } from './endpoint-fields';
import { FilterField } from './event-choice';
import { SettingsPage } from './page';
import { nameOf } from './receiver-rows';
import { SaveForm, useSaving } from './save-settings';

const TO = '/settings/receivers';

export function Screen() {
  const { endpoint_id } = useParams({ strict: false });
  const query = useQuery(endpointsQuery);
  // Not read by its ID: a browser reports a 404 as an error.
  const found = query.data?.endpoints.find((one) => one.endpoint_id === endpoint_id);
  if (found) return <Endpoint key={found.endpoint_id} of={found} />;
  return (
    <SettingsPage to={TO} title="Webhook endpoint">
      <Loaded query={query} what="the webhook endpoint">
        {() => (
          <Card>
            <Empty title="There is no such endpoint">
              It may have been deleted.{' '}
              <Anchor component={Link} to={TO} size="sm">
                See all receivers
              </Anchor>
            </Empty>
          </Card>
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
  const attempts = useQuery(endpointAttemptsQuery(endpoint.endpoint_id));
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
  const queries = useQueryClient();
  const changes = {
    ...(description.trim() !== endpoint.description && { description: description.trim() }),
    ...(url.trim() !== (endpoint.url ?? '') && { url: url.trim() }),
    ...(!isSame(events, endpoint.events) && { events }),
  };
  const saving = useSaving(
    () => call('PATCH', `/v1/webhook-endpoints/${endpoint.endpoint_id}`, { body: changes }),
    () => queries.invalidateQueries({ queryKey: endpointsQuery.queryKey }),
  );
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
