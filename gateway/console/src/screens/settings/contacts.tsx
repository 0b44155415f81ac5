import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { SaveForm, useSaveSettings } from './save-settings';

const FIELDS = [
  {
    role: 'technical',
    label: 'Technical contact',
    description: 'E-mail address for outages and changes.',
  },
  { role: 'billing', label: 'Billing contact', description: 'E-mail address for invoices.' },
] as const;

/** The addresses to which the operator writes. */
export function Contacts({ settings }: { settings: Settings }) {
  const [contacts, setContacts] = useState(settings.contacts);
  const saving = useSaveSettings(() => ({ contacts }));
  return (
    <Card title="Contacts">
      <SaveForm
        {...saving}
        action="Save the contacts"
        what="The contacts were"
        fields={FIELDS.map(({ role }) => `contacts.${role}`)}
      >
        {FIELDS.map(({ role, label, description }) => (
          <TextInput
            key={role}
            label={label}
            description={description}
            type="text"
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
