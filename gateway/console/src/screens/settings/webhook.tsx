// The webhook address: how its deliveries go, its secret, its extra events, and the latest events.
import { TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ATTEMPTS_REFRESH_MS, latestEventsQuery } from '../../api/queries';
import type { LoggedEvent, Settings } from '../../api/types';
import { IfMay } from '../../parts/allowed';
import { Card, Loaded, WorkButton } from '../../parts/layout';
import { ReplayEvents } from '../events/replay';
import { SendTestOutcome, useSendTest } from '../events/send-test';
import { Attempts, type ListedAttempt } from './attempts';
import { ExtraEvents } from './event-choice';
import { SaveForm, SettingsForms, SettingsPage, useSaveSettings } from './page';
import { WebhookSecret } from './secret';

export function Screen() {
  const query = useQuery({ ...latestEventsQuery, refetchInterval: ATTEMPTS_REFRESH_MS });
  const names = new Set(query.data?.map(({ event }) => event));
  return (
    <SettingsPage
      to="/settings/receivers"
      title="Webhook address"
      description="It gets every event of all your numbers, and the extra ones that you choose."
      actions={
        <IfMay scope="manage">
          <ReplayEvents names={[...names].sort()} />
        </IfMay>
      }
    >
      <SettingsForms>
        {(settings) => (
          <>
            <WebhookAddress settings={settings} />
            <WebhookSecret settings={settings} />
            <ExtraEvents settings={settings} />
          </>
        )}
      </SettingsForms>
      <Title order={2} size="h5">
        Latest deliveries
      </Title>
      <Loaded query={query} what="the latest deliveries">
        {(events) => <Attempts attempts={events.map(listed)} endpoint_id={null} />}
      </Loaded>
    </SettingsPage>
  );
}

/** The log has the last attempt of each event. */
const listed = ({ event_id, event, logged_at, delivery }: LoggedEvent): ListedAttempt => ({
  key: event_id,
  event_id,
  event,
  at: logged_at,
  status: delivery.status,
  answer:
    delivery.last_http_status === null
      ? delivery.attempts > 0
        ? 'no answer'
        : '–'
      : `HTTP ${delivery.last_http_status}`,
  duration_ms: delivery.last_duration_ms,
});

/** The address that events are posted to, with a test. */
function WebhookAddress({ settings }: { settings: Settings }) {
  const [address, setAddress] = useState(settings.webhook_url ?? '');
  const saving = useSaveSettings(() => ({ webhook_url: address.trim() || null }));
  const test = useSendTest();
  const changed = address.trim() !== (settings.webhook_url ?? '');
  return (
    <Card title="Address">
      <SaveForm
        {...saving}
        action="Save"
        what="The address was"
        fields={['webhook_url']}
        is_saved={!changed}
        beside={
          <WorkButton
            variant="default"
            work={test}
            disabled={changed || settings.webhook_url === null}
          >
            Send a test event
          </WorkButton>
        }
      >
        <TextInput
          label="Webhook address"
          description="HTTPS and public. Events are posted here; without an address they are in the event log only."
          type="url"
          placeholder="https://example.com/webhooks"
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
          error={saving.refusalOf('webhook_url')}
        />
      </SaveForm>
      {!changed && <SendTestOutcome test={test} />}
    </Card>
  );
}
