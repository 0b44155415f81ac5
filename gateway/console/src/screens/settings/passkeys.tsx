// The passkeys of the person who is signed in.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/change';
import { call } from '../../api/client';
import { addPasskey } from '../../api/passkeys';
import { logInQuery, passkeysQuery } from '../../api/queries';
import type { Passkey } from '../../api/types';
import { Card } from '../../parts/card';
import { Confirm } from '../../parts/confirm';
import { Failure } from '../../parts/failure';
import { FormButtons } from '../../parts/form-buttons';
import { Loaded } from '../../parts/loaded';
import { Dialog } from '../../parts/panel';
import { Time } from '../../parts/time';

const NAME_MAX = 100;

/** What is open beside the list. */
type Opened = { kind: 'add' } | { kind: 'rename' | 'remove'; passkey: Passkey };

/** Longer than 70 lines: the markup of one list, and its dialogs. */
export function Passkeys() {
  const query = useQuery(passkeysQuery);
  const has_issuer = (useQuery(logInQuery).data?.issuer ?? null) !== null;
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  return (
    <Card
      title="Your passkeys"
      aside={
        <Button size="xs" variant="default" onClick={() => setOpened({ kind: 'add' })}>
          Add …
        </Button>
      }
    >
      <Loaded query={query} what="your passkeys" lines={2}>
        {(passkeys) => (
          <Stack gap="xs">
            {passkeys.map((passkey) => (
              <Group key={passkey.passkey_id} gap="lg">
                <Text size="sm">
                  {passkey.name}
                  {passkey.synced && ' (on several devices)'}
                </Text>
                <Text size="sm" c="dimmed">
                  added <Time value={passkey.created_at} />, used{' '}
                  <Time value={passkey.last_used_at} as="ago" />
                </Text>
                <Group gap="xs">
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Rename … ${passkey.name}`}
                    onClick={() => setOpened({ kind: 'rename', passkey })}
                  >
                    Rename …
                  </Button>
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Remove … ${passkey.name}`}
                    disabled={passkeys.length === 1 && !has_issuer}
                    onClick={() => setOpened({ kind: 'remove', passkey })}
                  >
                    Remove …
                  </Button>
                </Group>
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
      {opened?.kind === 'add' && (
        <Named
          title="Add a passkey"
          action="Create the passkey"
          save={(name) => addPasskey(name)}
          onClose={close}
        />
      )}
      {opened?.kind === 'rename' && (
        <Named
          title={`Rename ${opened.passkey.name}`}
          action="Rename"
          before={opened.passkey.name}
          save={(name) =>
            call('PATCH', `/passkeys/${opened.passkey.passkey_id}`, { body: { name } })
          }
          onClose={close}
        />
      )}
      {opened?.kind === 'remove' && <Remove passkey={opened.passkey} onClose={close} />}
    </Card>
  );
}

const CHANGED = [passkeysQuery];

interface NamedProps {
  title: string;
  action: string;
  before?: string;
  save: (name: string) => Promise<unknown>;
  onClose: () => void;
}

function Named({ title, action, before = '', save, onClose }: NamedProps) {
  const [name, setName] = useState(before);
  const change = useChange(CHANGED, save, onClose);
  return (
    <Dialog onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(name);
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Name"
            description="The device or the program that keeps the passkey"
            maxLength={NAME_MAX}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          {change.error && <Failure error={change.error} title="The passkey was not changed" />}
          <FormButtons
            action={action}
            pending={change.isPending}
            disabled={name.trim() === ''}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

function Remove({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const remove = useChange(
    CHANGED,
    () => call('DELETE', `/passkeys/${passkey.passkey_id}`),
    onClose,
  );
  return (
    <Confirm
      title={`Remove ${passkey.name}?`}
      action="Remove"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      It no longer signs you in. Remove it from the device as well.
    </Confirm>
  );
}
