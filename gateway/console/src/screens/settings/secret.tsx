// The secret that signs events: shown on request only, and rotated with an overlap.
import { Button, Code, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import { settingsQuery } from '../../api/queries';
import type { Settings, WebhookSecret as Secret } from '../../api/types';
import { Card } from '../../parts/card';
import { Copy } from '../../parts/copy';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { focusOnMount } from '../../parts/focus-on-mount';
import { Dialog } from '../../parts/panel';
import { ShownOnce } from '../../parts/shown-once';
import { Time } from '../../parts/time';

const OVERLAP_DEFAULT_HOURS = 24;
const OVERLAP_MAX_HOURS = 720;

export function WebhookSecret({ settings }: { settings: Settings }) {
  const [rotating, setRotating] = useState(false);
  const reveal = useMutation({
    mutationFn: () => call<Secret>('POST', '/webhook-secret/reveal'),
    gcTime: 0,
  });
  const { webhook_secret } = settings;
  return (
    <Card title="Webhook secret">
      <Stack gap="sm">
        <Text size="sm">
          Every event carries a signature made with this secret. Check it, and refuse events without
          a valid one.
        </Text>
        <Facts
          of={[
            ['Created', <Time value={webhook_secret?.created_at} />],
            [
              'Old secret signs until',
              webhook_secret?.previous_expires_at && (
                <Time value={webhook_secret.previous_expires_at} />
              ),
            ],
          ]}
        />
        {reveal.data && (
          <Group gap="xs" ref={focusOnMount} tabIndex={-1} className="focused-content">
            <Code data-testid="secret">{reveal.data.webhook_secret}</Code>
            <Copy text={reveal.data.webhook_secret} label="Copy the secret" />
            <Button size="compact-xs" variant="subtle" onClick={() => reveal.reset()}>
              Hide
            </Button>
          </Group>
        )}
        {reveal.error && <Failure error={reveal.error} title="The secret cannot be shown" />}
        <Group gap="xs">
          {!reveal.data && (
            <Button
              variant="default"
              loading={reveal.isPending}
              disabled={webhook_secret === null}
              onClick={() => reveal.mutate()}
            >
              Reveal
            </Button>
          )}
          <Button variant="default" onClick={() => setRotating(true)}>
            Rotate …
          </Button>
        </Group>
      </Stack>
      {rotating && (
        <Rotate
          onClose={() => {
            setRotating(false);
            reveal.reset();
          }}
        />
      )}
    </Card>
  );
}

function Rotate({ onClose }: { onClose: () => void }) {
  const [hours, setHours] = useState<number | string>(OVERLAP_DEFAULT_HOURS);
  const queries = useQueryClient();
  const rotate = useMutation({
    mutationFn: () =>
      call<Secret>('POST', '/webhook-secret/rotate', { body: { overlap_hours: Number(hours) } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: settingsQuery.queryKey }),
    gcTime: 0,
  });
  return (
    <Dialog onClose={onClose} title="Rotate the webhook secret">
      {rotate.data ? (
        <ShownOnce
          value={rotate.data.webhook_secret}
          copy="Copy the new secret"
          testid="new-secret"
          onClose={onClose}
        >
          This is the new secret. Put it into your receiver before the overlap ends.
        </ShownOnce>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            rotate.mutate();
          }}
        >
          <Stack gap="sm">
            <NumberInput
              label="Overlap in hours"
              description="For so long, events are signed with the old secret too. 0 ends it at once."
              min={0}
              max={OVERLAP_MAX_HOURS}
              allowDecimal={false}
              value={hours}
              onChange={setHours}
              data-autofocus
            />
            {rotate.error && <Failure error={rotate.error} title="The secret was not rotated" />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={rotate.isPending}>
                Rotate
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
