// The passkeys of the person who is signed in.
import { Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import { addPasskey } from '../../api/passkeys';
import { logInQuery, passkeysQuery, useChange } from '../../api/queries';
import type { Passkey } from '../../api/types';
import { Confirm, FormDialog, Opens, type Closing } from '../../parts/dialogs';
import { LoadedCard } from '../../parts/layout';
import { Time } from '../../parts/values';

const NAME_MAX = 100;

export function Passkeys() {
  const query = useQuery(passkeysQuery);
  const has_issuer = (useQuery(logInQuery).data?.issuer ?? null) !== null;
  return (
    <LoadedCard
      title="Your passkeys"
      aside={
        <Opens label="Add …" size="xs">
          {(close) => (
            <Named
              title="Add a passkey"
              action="Create the passkey"
              save={(name) => addPasskey(name)}
              onClose={close}
            />
          )}
        </Opens>
      }
      query={query}
      what="your passkeys"
      lines={2}
    >
      {(passkeys) => (
        <Stack gap="xs">
          {passkeys.map((passkey) => (
            <Row
              key={passkey.passkey_id}
              passkey={passkey}
              is_last={passkeys.length === 1 && !has_issuer}
            />
          ))}
        </Stack>
      )}
    </LoadedCard>
  );
}

interface RowProps {
  passkey: Passkey;
  /** True for the only way in which the person can sign in. */
  is_last: boolean;
}

const Row = ({ passkey, is_last }: RowProps) => (
  <Group gap="lg">
    <Text size="sm">
      {passkey.name}
      {passkey.synced && ' (on several devices)'}
    </Text>
    <Text size="sm" c="dimmed">
      added <Time value={passkey.created_at} />, used <Time value={passkey.last_used_at} as="ago" />
    </Text>
    <Group gap="xs">
      <Opens label="Rename …" of={passkey.name}>
        {(close) => (
          <Named
            title={`Rename ${passkey.name}`}
            action="Rename"
            before={passkey.name}
            save={(name) => call('PATCH', `/passkeys/${passkey.passkey_id}`, { body: { name } })}
            onClose={close}
          />
        )}
      </Opens>
      <Opens label="Remove …" of={passkey.name} disabled={is_last}>
        {(close) => <Remove passkey={passkey} onClose={close} />}
      </Opens>
    </Group>
  </Group>
);

const CHANGED = [passkeysQuery];

interface NamedProps {
  title: string;
  action: string;
  before?: string;
  save: (name: string) => Promise<unknown>;
}

function Named({ title, action, before = '', save, onClose }: Closing<NamedProps>) {
  const [name, setName] = useState(before);
  const change = useChange(CHANGED, () => save(name), onClose);
  return (
    <FormDialog
      title={title}
      action={action}
      work={change}
      failure="The passkey was not changed"
      disabled={name.trim() === ''}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="The device or the program that keeps the passkey"
        maxLength={NAME_MAX}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  );
}

function Remove({ passkey, onClose }: Closing<{ passkey: Passkey }>) {
  const remove = useChange(
    CHANGED,
    () => call('DELETE', `/passkeys/${passkey.passkey_id}`),
    onClose,
  );
  return (
    <Confirm title={`Remove ${passkey.name}?`} action="Remove" work={remove} onClose={onClose}>
      It no longer signs you in. Remove it from the device as well.
    </Confirm>
  );
}
