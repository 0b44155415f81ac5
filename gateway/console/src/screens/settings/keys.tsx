// The API keys beside the partner key. A secret is shown once, after it was made.
import { Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import { keysQuery, useChange } from '../../api/queries';
import type { ApiKey, ApiKeyWithSecret } from '../../api/types';
import { Confirm, FormDialog, Opens, ShownOnce, type Closing } from '../../parts/dialogs';
import { Hint, LoadedCard } from '../../parts/layout';
import { DataTable, type TableColumn } from '../../parts/tables';
import { Time } from '../../parts/values';
import { SettingsPage } from './page';

const NAME_MAX = 100;
const OVERLAP_HOURS = 24;
const SCOPES: ReadonlyArray<[scope: string, allows: string]> = [
  ['send', 'messages, media, calls and broadcasts'],
  ['read', 'everything but billing and keys'],
  ['manage', 'all other changes, keys included'],
  ['billing', 'usage and costs'],
];

const limitsOf = ({ waba_ids, addresses }: ApiKey): string =>
  [
    ...(waba_ids ? [`accounts ${waba_ids.join(', ')}`] : []),
    ...(addresses ? [`from ${addresses.join(', ')}`] : []),
  ].join('; ');

const COLUMNS: Array<TableColumn<ApiKey>> = [
  {
    title: 'Name',
    cell: (key) => (
      <>
        {key.name}
        <Hint>
          {key.key_hint} {limitsOf(key)}
        </Hint>
      </>
    ),
  },
  { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
  { title: 'Expires', cell: ({ expires_at }) => <Time value={expires_at} /> },
  { title: 'Last used', cell: ({ last_used_at }) => <Time value={last_used_at} as="ago" /> },
  {
    title: 'Actions',
    cell: (key) => (
      <Group gap="xs" wrap="nowrap">
        <Opens label="Rotate …" of={key.name}>
          {(close) => <Rotate of={key} onClose={close} />}
        </Opens>
        <Opens label="Revoke …" of={key.name}>
          {(close) => <Revoke of={key} onClose={close} />}
        </Opens>
      </Group>
    ),
  },
];

export const Screen = () => (
  <SettingsPage
    to="/settings/keys"
    description="Keys beside your partner key, each with the rights that its program needs. Accounts, addresses and an expiry are set with the API."
    actions={
      <Opens label="Create …" variant="filled">
        {(close) => <Create onClose={close} />}
      </Opens>
    }
  >
    <LoadedCard query={useQuery(keysQuery)} what="the API keys" lines={2}>
      {(keys) => (
        <DataTable
          min_width={640}
          rows={keys}
          keyOf={({ key_id }) => key_id}
          columns={COLUMNS}
          empty="There are no API keys yet."
        />
      )}
    </LoadedCard>
  </SettingsPage>
);

const CHANGED = [keysQuery];

function Create({ onClose }: Closing) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>([]);
  const create = useChange(CHANGED, () =>
    call<ApiKeyWithSecret>('POST', '/v1/keys', { body: { name, scopes } }),
  );
  return (
    <FormDialog
      title="Create an API key"
      action="Create"
      work={create}
      failure="The key was not created"
      disabled={name.trim() === '' || scopes.length === 0}
      made={create.data && <NewSecret of={create.data} onClose={onClose} />}
      onClose={onClose}
    >
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
    </FormDialog>
  );
}

function Rotate({ of, onClose }: Closing<{ of: ApiKey }>) {
  const rotate = useChange(CHANGED, () =>
    call<ApiKeyWithSecret>('POST', `/v1/keys/${of.key_id}/rotate`, {
      body: { overlap_hours: OVERLAP_HOURS },
    }),
  );
  return (
    <Confirm
      title={rotate.data ? `The new secret of ${of.name}` : `Rotate ${of.name}?`}
      action="Rotate"
      work={rotate}
      made={rotate.data && <NewSecret of={rotate.data} onClose={onClose} />}
      onClose={onClose}
    >
      It gets a new secret. The old one works for another {OVERLAP_HOURS} hours.
    </Confirm>
  );
}

function Revoke({ of, onClose }: Closing<{ of: ApiKey }>) {
  const revoke = useChange(CHANGED, () => call('DELETE', `/v1/keys/${of.key_id}`), onClose);
  return (
    <Confirm title={`Revoke ${of.name}?`} action="Revoke" work={revoke} onClose={onClose}>
      Programs that use it are refused from then on. This cannot be undone.
    </Confirm>
  );
}

const NewSecret = ({ of, onClose }: Closing<{ of: ApiKeyWithSecret }>) => (
  <ShownOnce value={of.secret} copy="Copy the secret of the key" testid="new-key" onClose={onClose}>
    This is the secret. It is shown only now: store it.
  </ShownOnce>
);
