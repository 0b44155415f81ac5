// The secret that signs events: shown on request only, and rotated with an overlap.
import { Anchor, Button, Code, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client';
import { settingsQuery, useChange } from '../../api/queries';
import type { Settings, WebhookSecret as Secret } from '../../api/types';
import { FormDialog, focusOnMount, Opens, ShownOnce, type Closing } from '../../parts/dialogs';
import { Card, Facts, Failure, WorkButton } from '../../parts/layout';
import { Copy, Time, timeIfAny } from '../../parts/values';

const OVERLAP_DEFAULT_HOURS = 24;
const OVERLAP_MAX_HOURS = 720;

/** Works in a sentence. */
export const VerifyGuide = () => (
  <Anchor href="../docs/receiving#verify" size="sm">
    Verify it
  </Anchor>
);

const rotateWebhookSecret = async (overlap_hours: number): Promise<string> =>
  (await call<Secret>('POST', '/webhook-secret/rotate', { body: { overlap_hours } }))
    .webhook_secret;

export function WebhookSecret({ settings }: { settings: Settings }) {
  const reveal = useChange([], () => call<Secret>('POST', '/webhook-secret/reveal'));
  const { webhook_secret } = settings;
  return (
    <Card title="Webhook secret">
      <Stack gap="sm">
        <Text size="sm">
          Every event carries a signature made with this secret. <VerifyGuide />, and refuse events
          without a valid one.
        </Text>
        <Facts
          of={[
            ['Created', <Time value={webhook_secret?.created_at} />],
            ['Old secret signs until', timeIfAny(webhook_secret?.previous_expires_at)],
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
            <WorkButton variant="default" work={reveal} disabled={webhook_secret === null}>
              Reveal
            </WorkButton>
          )}
          <Opens label="Rotate …">
            {(close) => (
              <RotateSecret
                title="Rotate the webhook secret"
                rotate={rotateWebhookSecret}
                changed={settingsQuery}
                onClose={() => {
                  close();
                  reveal.reset();
                }}
              />
            )}
          </Opens>
        </Group>
      </Stack>
    </Card>
  );
}

interface RotateSecretProps {
  title: string;
  /** Returns the new secret. */
  rotate: (overlap_hours: number) => Promise<string>;
  /** Shows until when the old one signs. */
  changed: { queryKey: readonly unknown[] };
}

export function RotateSecret(props: Closing<RotateSecretProps>) {
  const { title, changed, onClose } = props;
  const [hours, setHours] = useState<number | string>(OVERLAP_DEFAULT_HOURS);
  const rotate = useChange([changed], () => props.rotate(Number(hours)));
  return (
    <FormDialog
      title={title}
      action="Rotate"
      work={rotate}
      failure="The secret was not rotated"
      made={
        rotate.data && (
          <ShownOnce
            value={rotate.data}
            copy="Copy the new secret"
            testid="new-secret"
            onClose={onClose}
          >
            This is the new secret. Put it into your receiver before the overlap ends.
          </ShownOnce>
        )
      }
      onClose={onClose}
    >
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
    </FormDialog>
  );
}
