// The people who sign in to the console: invited with a link, each with a role.
import { Group, Select, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import { peopleQuery, sessionsQuery, useChange } from '../../api/queries';
import type { InvitedPerson, Person } from '../../api/types';
import { Confirm, FormDialog, Opens, ShownOnce, type Closing } from '../../parts/dialogs';
import { Hint, LoadedCard } from '../../parts/layout';
import { DataTable, type TableColumn } from '../../parts/tables';
import { State, Time } from '../../parts/values';
import { BroadcastApproval } from './approval';
import { SettingsPage } from './page';
import { Sessions } from './sessions';

const EMAIL_MAX = 254;
const ROLES = [
  { value: 'owner', label: 'owner: everything' },
  { value: 'developer', label: 'developer: everything but billing' },
  { value: 'support', label: 'support: read, and send messages' },
  { value: 'billing', label: 'billing: usage and costs' },
];

const inviterOf = ({ type, name }: Person['invited_by']): string =>
  name ?? (type === 'operator' ? 'the operator' : 'the partner key');

const COLUMNS: Array<TableColumn<Person>> = [
  {
    title: 'Person',
    cell: ({ email, email_verified, invited_by }) => (
      <>
        {email}
        <Hint>
          {!email_verified && 'address not verified · '}invited by {inviterOf(invited_by)}
        </Hint>
      </>
    ),
  },
  { title: 'Role', cell: ({ role }) => role },
  {
    title: 'State',
    cell: ({ state, invitation_expires_at }) => (
      <>
        <State of={state} />
        {invitation_expires_at && (
          <Hint>
            link until <Time value={invitation_expires_at} />
          </Hint>
        )}
      </>
    ),
  },
  { title: 'Last sign-in', cell: ({ last_login_at }) => <Time value={last_login_at} as="ago" /> },
  {
    title: 'Actions',
    cell: (person) => (
      <Group gap="xs" wrap="nowrap">
        <Opens label="Role …" of={person.email}>
          {(close) => <ChangeRole person={person} onClose={close} />}
        </Opens>
        <Opens label="New link …" of={person.email}>
          {(close) => <Renew person={person} onClose={close} />}
        </Opens>
        <Opens label="Remove …" of={person.email}>
          {(close) => <Remove person={person} onClose={close} />}
        </Opens>
      </Group>
    ),
  },
];

export const Screen = () => (
  <SettingsPage
    to="/settings/people"
    description="Who may sign in to the console, and with which role. Programs use API keys instead."
    actions={
      <Opens label="Invite …" variant="filled">
        {(close) => <Invite onClose={close} />}
      </Opens>
    }
  >
    <LoadedCard query={useQuery(peopleQuery)} what="the people" lines={3}>
      {(people) => (
        <DataTable
          min_width={760}
          rows={people}
          keyOf={({ person_id }) => person_id}
          columns={COLUMNS}
          empty="There are no people yet. Invite the first one as owner: the partner key then stays in its vault."
        />
      )}
    </LoadedCard>
    <BroadcastApproval />
    <Sessions />
  </SettingsPage>
);

const CHANGED = [peopleQuery, sessionsQuery];

const RoleSelect = ({ value, onChange }: { value: string; onChange: (role: string) => void }) => (
  <Select
    label="Role"
    data={ROLES}
    value={value}
    onChange={(role) => role && onChange(role)}
    allowDeselect={false}
  />
);

function Invite({ onClose }: Closing) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState('developer');
  const invite = useChange(CHANGED, () =>
    call<InvitedPerson>('POST', '/v1/people', { body: { email, role } }),
  );
  return (
    <FormDialog
      title="Invite a person"
      action="Invite"
      work={invite}
      failure="The person was not invited"
      disabled={email.trim() === ''}
      made={invite.data && <Link of={invite.data} onClose={onClose} />}
      onClose={onClose}
    >
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="off"
        maxLength={EMAIL_MAX}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        data-autofocus
      />
      <RoleSelect value={role} onChange={setRole} />
    </FormDialog>
  );
}

function ChangeRole({ person, onClose }: Closing<{ person: Person }>) {
  const [role, setRole] = useState<string>(person.role);
  const change = useChange(
    CHANGED,
    () => call('PATCH', `/v1/people/${person.person_id}`, { body: { role } }),
    onClose,
  );
  return (
    <FormDialog
      title={`The role of ${person.email}`}
      action="Change"
      work={change}
      failure="The role was not changed"
      disabled={role === person.role}
      onClose={onClose}
    >
      <RoleSelect value={role} onChange={setRole} />
      <Text size="sm">If the new role allows less, the sessions of the person end.</Text>
    </FormDialog>
  );
}

function Renew({ person, onClose }: Closing<{ person: Person }>) {
  const renew = useChange(CHANGED, () =>
    call<InvitedPerson>('POST', `/v1/people/${person.person_id}/invitation`),
  );
  return (
    <Confirm
      title={
        renew.data ? `The new link of ${person.email}` : `Make a new link for ${person.email}?`
      }
      action="Make a new link"
      severe={false}
      work={renew}
      made={renew.data && <Link of={renew.data} onClose={onClose} />}
      onClose={onClose}
    >
      The link before stops working. The new one signs in as this person.
    </Confirm>
  );
}

function Remove({ person, onClose }: Closing<{ person: Person }>) {
  const remove = useChange(
    CHANGED,
    () => call('DELETE', `/v1/people/${person.person_id}`),
    onClose,
  );
  return (
    <Confirm title={`Remove ${person.email}?`} action="Remove" work={remove} onClose={onClose}>
      The sessions and passkeys of the person end at once. API keys that the person created stay.
    </Confirm>
  );
}

const Link = ({ of, onClose }: Closing<{ of: InvitedPerson }>) => (
  <ShownOnce value={of.invitation_url} copy="Copy the link" testid="invitation" onClose={onClose}>
    Give this link to {of.person.email}: no mail is sent. It works once, for seven days, and is
    shown only now.
  </ShownOnce>
);
