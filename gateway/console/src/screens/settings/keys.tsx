// The API keys beside the partner key. A secret is shown once, after it was made.
import { Button, Checkbox, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/change';
import { call } from '../../api/client';
import { keysQuery } from '../../api/queries';
import type { ApiKey, ApiKeyWithSecret } from '../../api/types';
import { Card } from '../../parts/card';
import { Confirm } from '../../parts/confirm';
import { Failure } from '../../parts/failure';
import { FormButtons } from '../../parts/form-buttons';
import { Loaded } from '../../parts/loaded';
import { Dialog } from '../../parts/panel';
import { RowActions } from '../../parts/row-actions';
import { ShownOnce } from '../../parts/shown-once';
import { Time } from '../../parts/time';
import { SettingsPage } from './page';

const NAME_MAX = 100;
const OVERLAP_HOURS = 24;
const SCOPES: ReadonlyArray<[scope: string, allows: string]> = [
  ['send', 'messages, media, calls and broadcasts'],
  ['read', 'everything but billing and keys'],
  ['manage', 'all other changes, keys included'],
  ['billing', 'usage and costs'],
];

const ACTIONS = [
  ['rotate', 'Rotate …'],
  ['revoke', 'Revoke …'],
] as const;

/** What is open beside the list. */
type Opened = { kind: 'create' } | { kind: 'rotate' | 'revoke'; key: ApiKey };

export function Screen() {
  const query = useQuery(keysQuery);
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  return (
    <SettingsPage
      to="/settings/keys"
      description="Keys beside your partner key, each with the rights that its program needs. Accounts, addresses and an expiry are set with the API."
      actions={<Button onClick={() => setOpened({ kind: 'create' })}>Create …</Button>}
    >
      <Card>
        <Loaded query={query} what="the API keys" lines={2}>
          {({ keys }) =>
            keys.length === 0 ? (
              <Text size="sm">There are no API keys yet.</Text>
            ) : (
              <List keys={keys} onOpen={setOpened} />
            )
          }
        </Loaded>
      </Card>
      {opened?.kind === 'create' && <Create onClose={close} />}
      {opened?.kind === 'rotate' && <Rotate of={opened.key} onClose={close} />}
      {opened?.kind === 'revoke' && <Revoke of={opened.key} onClose={close} />}
    </SettingsPage>
  );
}

const limitsOf = ({ waba_ids, addresses }: ApiKey): string =>
  [
    ...(waba_ids ? [`accounts ${waba_ids.join(', ')}`] : []),
    ...(addresses ? [`from ${addresses.join(', ')}`] : []),
  ].join('; ');

function List({ keys, onOpen }: { keys: ApiKey[]; onOpen: (opened: Opened) => void }) {
  return (
    <Table.ScrollContainer minWidth={640} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Scopes</Table.Th>
            <Table.Th>Expires</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>Actions</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <Table.Tr key={key.key_id}>
              <Table.Td>
                {key.name}
                <Text size="xs" c="dimmed">
                  {key.key_hint} {limitsOf(key)}
                </Text>
              </Table.Td>
              <Table.Td>{key.scopes.join(', ')}</Table.Td>
              <Table.Td>
                <Time value={key.expires_at} />
              </Table.Td>
              <Table.Td>
                <Time value={key.last_used_at} as="ago" />
              </Table.Td>
              <Table.Td>
                <RowActions
                  of={ACTIONS}
                  name={key.name}
                  onChoose={(kind) => onOpen({ kind, key })}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const CHANGED = [keysQuery];

function Create({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>([]);
  const create = useChange(CHANGED, () =>
    call<ApiKeyWithSecret>('POST', '/v1/keys', { body: { name, scopes } }),
  );
  return (
    <Dialog onClose={onClose} title="Create an API key">
      {create.data ? (
        <NewSecret of={create.data} onClose={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate();
          }}
        >
          <Stack gap="sm">
            <TextInput
              label="Name"
              description="What the key is for"
              maxLength={NAME_MAX}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              data-autofocus
            />
            <Checkbox.Group label="Scopes" value={scopes} onChange={setScopes}>
              <Stack gap="xs" mt="xs">
                {SCOPES.map(([scope, allows]) => (
                  <Checkbox key={scope} value={scope} label={`${scope}: ${allows}`} />
                ))}
              </Stack>
            </Checkbox.Group>
            {create.error && <Failure error={create.error} title="The key was not created" />}
            <FormButtons
              action="Create"
              pending={create.isPending}
              disabled={name.trim() === '' || scopes.length === 0}
              onClose={onClose}
            />
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

function Rotate({ of, onClose }: { of: ApiKey; onClose: () => void }) {
  const rotate = useChange(CHANGED, () =>
    call<ApiKeyWithSecret>('POST', `/v1/keys/${of.key_id}/rotate`, {
      body: { overlap_hours: OVERLAP_HOURS },
    }),
  );
  return (
    <Confirm
      title={`Rotate ${of.name}?`}
      action="Rotate"
      made={
        rotate.data && {
          title: `The new secret of ${of.name}`,
          content: <NewSecret of={rotate.data} onClose={onClose} />,
        }
      }
      pending={rotate.isPending}
      error={rotate.error}
      onConfirm={() => rotate.mutate()}
      onClose={onClose}
    >
      It gets a new secret. The old one works for another {OVERLAP_HOURS} hours.
    </Confirm>
  );
}

function Revoke({ of, onClose }: { of: ApiKey; onClose: () => void }) {
  const revoke = useChange(CHANGED, () => call('DELETE', `/v1/keys/${of.key_id}`), onClose);
  return (
    <Confirm
      title={`Revoke ${of.name}?`}
      action="Revoke"
      pending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      Programs that use it are refused from then on. This cannot be undone.
    </Confirm>
  );
}

const NewSecret = ({ of, onClose }: { of: ApiKeyWithSecret; onClose: () => void }) => (
  <ShownOnce value={of.secret} copy="Copy the secret of the key" testid="new-key" onClose={onClose}>
    This is the secret. It is shown only now: store it.
  </ShownOnce>
);
