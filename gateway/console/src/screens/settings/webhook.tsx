import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ApiFailure } from '../../api/client';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { Failure } from '../../parts/failure';
import { useSaveSettings } from './save-settings';
import { SendTestOutcome, useSendTest } from '../events/send-test';

/** The address that events are posted to, with a test. */
export function WebhookAddress({ settings }: { settings: Settings }) {
  const [address, setAddress] = useState(settings.webhook_url ?? '');
  const save = useSaveSettings(() => ({
    webhook_url: address.trim() === '' ? null : address.trim(),
  }));
  const test = useSendTest();
  const refused = (save.error as ApiFailure | null)?.code === 'INVALID_FIELD';
  const changed = address.trim() !== (settings.webhook_url ?? '');
  return (
    <Card title="Webhook">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (changed) save.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Webhook address"
            description="HTTPS and public. Events are posted here; without an address they are in the event log only."
            type="url"
            placeholder="https://example.com/webhooks"
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
            error={refused ? save.error?.message : null}
          />
          <Group gap="xs">
            {/* Never disabled, so that it keeps the keyboard focus after it has saved. */}
            <Button
              type="submit"
              loading={save.isPending}
              data-disabled={!changed}
              aria-disabled={!changed}
            >
              Save
            </Button>
            <Button
              variant="default"
              loading={test.isPending}
              disabled={changed || settings.webhook_url === null}
              onClick={() => test.mutate()}
            >
              Send a test event
            </Button>
          </Group>
          {save.error && !refused && (
            <Failure error={save.error} title="The address was not saved" />
          )}
          {!changed && <SendTestOutcome test={test} />}
        </Stack>
      </form>
    </Card>
  );
}
