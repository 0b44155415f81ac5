// The account: its facts, the contacts of the partner, and how this person signs in.
import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionQuery, settingsQuery } from '../../api/queries';
import type { Settings } from '../../api/types';
import { IfMay } from '../../parts/allowed';
import { Card, Facts, LoadedCard } from '../../parts/layout';
import { Id, State } from '../../parts/values';
import { countOf, nounOf } from '../../period';
import { SaveForm, SettingsForms, SettingsPage, useSaveSettings } from './page';
import { Passkeys } from './passkeys';
import { Sessions } from './sessions';

export function Screen() {
  const person = useQuery(sessionQuery).data?.person;
  return (
    <SettingsPage to="/settings/profile">
      <IfMay scope="read">
        <Account />
        <SettingsForms>{(settings) => <Contacts settings={settings} />}</SettingsForms>
      </IfMay>
      {person && <Passkeys />}
      <Sessions />
    </SettingsPage>
  );
}

const Account = () => (
  <LoadedCard title="Account" query={useQuery(settingsQuery)} what="the account" lines={7}>
    {(settings) => <Plan settings={settings} />}
  </LoadedCard>
);

const Plan = ({ settings }: { settings: Settings }) => {
  const { plan, partner_id, key_hint, rate_limit_per_sec } = settings;
  return (
    <Facts
      of={[
        ['Name', settings.name],
        ['Partner ID', <Id of="partner" text={partner_id} />],
        ['State', <State of={settings.status} />],
        ['Partner key', `${key_hint} (support rotates it)`],
        ['Rate limit', `${countOf(rate_limit_per_sec)} requests a second`],
        [
          'Business accounts',
          `${plan.active_wabas}${plan.max_wabas === null ? '' : ` of ${plan.max_wabas}`} active`,
        ],
        ['Billing', `${nounOf(plan.slots, 'slot')} this month`],
      ]}
    />
  );
};

const CONTACTS = [
  {
    role: 'technical',
    label: 'Technical contact',
    description: 'E-mail address for outages and changes.',
  },
  { role: 'billing', label: 'Billing contact', description: 'E-mail address for invoices.' },
] as const;

/** The addresses to which the operator writes. */
function Contacts({ settings }: { settings: Settings }) {
  const [contacts, setContacts] = useState(settings.contacts);
  const saving = useSaveSettings(() => ({ contacts }));
  return (
    <Card title="Contacts">
      <SaveForm
        {...saving}
        action="Save the contacts"
        what="The contacts were"
        fields={CONTACTS.map(({ role }) => `contacts.${role}`)}
      >
        {CONTACTS.map(({ role, label, description }) => (
          <TextInput
            key={role}
            label={label}
            description={description}
            inputMode="email"
            placeholder="team@example.com"
            value={contacts[role] ?? ''}
            onChange={(event) => setContacts({ ...contacts, [role]: event.currentTarget.value })}
            error={saving.refusalOf(`contacts.${role}`)}
          />
        ))}
      </SaveForm>
    </Card>
  );
}
