// The people who sign in to the console: invited with a link, each with a role.
import { Button, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/change';
import { call } from '../../api/client';
import { peopleQuery, sessionsQuery } from '../../api/queries';
import type { InvitedPerson, Person } from '../../api/types';
import { Card } from '../../parts/card';
import { Confirm } from '../../parts/confirm';
import { Failure } from '../../parts/failure';
import { FormButtons } from '../../parts/form-buttons';
import { Loaded } from '../../parts/loaded';
import { Dialog } from '../../parts/panel';
import { RowActions } from '../../parts/row-actions';
import { ShownOnce } from '../../parts/shown-once';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
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

const ACTIONS = [
  ['role', 'Role …'],
  ['renew', 'New link …'],
  ['remove', 'Remove …'],
] as const;

const inviterOf = ({ type, name }: Person['invited_by']): string =>
  name ?? (type === 'operator' ? 'the operator' : 'the partner key');

/** What is open beside the list. */
type Opened = { kind: 'invite' } | { kind: 'role' | 'renew' | 'remove'; person: Person };

export function Screen() {
  const query = useQuery(peopleQuery);
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  return (
    <SettingsPage
      to="/settings/people"
      description="Who may sign in to the console, and with which role. Programs use API keys instead."
      actions={<Button onClick={() => setOpened({ kind: 'invite' })}>Invite …</Button>}
    >
      <Card>
        <Loaded query={query} what="the people" lines={3}>
          {(people) =>
            people.length === 0 ? (
              <Text size="sm">
                There are no people yet. Invite the first one as owner: the partner key then stays
                in its vault.
              </Text>
            ) : (
              <List people={people} onOpen={setOpened} />
            )
          }
        </Loaded>
      </Card>
      <BroadcastApproval />
      <Sessions />
      {opened?.kind === 'invite' && <Invite onClose={close} />}
      {opened?.kind === 'role' && <ChangeRole person={opened.person} onClose={close} />}
      {opened?.kind === 'renew' && <Renew person={opened.person} onClose={close} />}
      {opened?.kind === 'remove' && <Remove person={opened.person} onClose={close} />}
    </SettingsPage>
  );
}

function List({ people, onOpen }: { people: Person[]; onOpen: (opened: Opened) => void }) {
  return (
    <Table.ScrollContainer minWidth={760} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Person</Table.Th>
            <Table.Th>Role</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Last sign-in</Table.Th>
            <Table.Th>Actions</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {people.map((person) => (
            <Table.Tr key={person.person_id}>
              <Table.Td>
                {person.email}
                <Text size="xs" c="dimmed">
                  {!person.email_verified && 'address not verified · '}invited by{' '}
                  {inviterOf(person.invited_by)}
                </Text>
              </Table.Td>
              <Table.Td>{person.role}</Table.Td>
              <Table.Td>
                <State of={person.state} />
                {person.invitation_expires_at && (
                  <Text size="xs" c="dimmed">
                    link until <Time value={person.invitation_expires_at} />
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Time value={person.last_login_at} as="ago" />
              </Table.Td>
              <Table.Td>
                <RowActions
                  of={ACTIONS}
                  name={person.email}
                  onChoose={(kind) => onOpen({ kind, person })}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

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

function Invite({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState('developer');
  const invite = useChange(CHANGED, () =>
    call<InvitedPerson>('POST', '/v1/people', { body: { email, role } }),
  );
  return (
    <Dialog onClose={onClose} title="Invite a person">
      {invite.data ? (
        <Link of={invite.data} onClose={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            invite.mutate();
          }}
        >
          <Stack gap="sm">
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
            {invite.error && <Failure error={invite.error} title="The person was not invited" />}
            <FormButtons
              action="Invite"
              pending={invite.isPending}
              disabled={email.trim() === ''}
              onClose={onClose}
            />
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

function ChangeRole({ person, onClose }: { person: Person; onClose: () => void }) {
  const [role, setRole] = useState<string>(person.role);
  const change = useChange(
    CHANGED,
    () => call('PATCH', `/v1/people/${person.person_id}`, { body: { role } }),
    onClose,
  );
  return (
    <Dialog onClose={onClose} title={`The role of ${person.email}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <Stack gap="sm">
          <RoleSelect value={role} onChange={setRole} />
          <Text size="sm">If the new role allows less, the sessions of the person end.</Text>
          {change.error && <Failure error={change.error} title="The role was not changed" />}
          <FormButtons
            action="Change"
            pending={change.isPending}
            disabled={role === person.role}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

function Renew({ person, onClose }: { person: Person; onClose: () => void }) {
  const renew = useChange(CHANGED, () =>
    call<InvitedPerson>('POST', `/v1/people/${person.person_id}/invitation`),
  );
  return (
    <Confirm
      title={`Make a new link for ${person.email}?`}
      action="Make a new link"
      made={
        renew.data && {
          title: `The new link of ${person.email}`,
          content: <Link of={renew.data} onClose={onClose} />,
        }
      }
      severe={false}
      pending={renew.isPending}
      error={renew.error}
      onConfirm={() => renew.mutate()}
      onClose={onClose}
    >
      The link before stops working. The new one signs in as this person.
    </Confirm>
  );
}

function Remove({ person, onClose }: { person: Person; onClose: () => void }) {
  const remove = useChange(
    CHANGED,
    () => call('DELETE', `/v1/people/${person.person_id}`),
    onClose,
  );
  return (
    <Confirm
      title={`Remove ${person.email}?`}
      action="Remove"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      The sessions and passkeys of the person end at once. API keys that the person created stay.
    </Confirm>
  );
}

const Link = ({ of, onClose }: { of: InvitedPerson; onClose: () => void }) => (
  <ShownOnce value={of.invitation_url} copy="Copy the link" testid="invitation" onClose={onClose}>
    Give this link to {of.person.email}: no mail is sent. It works once, for seven days, and is
    shown only now.
  </ShownOnce>
);
