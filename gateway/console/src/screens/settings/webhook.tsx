import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { SendTestOutcome, useSendTest } from '../events/send-test';
import { SaveForm, useSaveSettings } from './save-settings';

/** The address that events are posted to, with a test. */
export function WebhookAddress({ settings }: { settings: Settings }) {
  const [address, setAddress] = useState(settings.webhook_url ?? '');
  const saving = useSaveSettings(() => ({ webhook_url: address.trim() || null }));
  const test = useSendTest();
  const changed = address.trim() !== (settings.webhook_url ?? '');
  return (
    <Card title="Webhook">
      <SaveForm
        {...saving}
        action="Save"
        what="The address was"
        fields={['webhook_url']}
        is_saved={!changed}
        beside={
          <Button
            variant="default"
            loading={test.isPending}
            disabled={changed || settings.webhook_url === null}
            onClick={() => test.mutate()}
          >
            Send a test event
          </Button>
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
