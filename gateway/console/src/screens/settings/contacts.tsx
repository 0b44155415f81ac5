import { Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ApiFailure } from '../../api/client';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { Failure } from '../../parts/failure';
import { useSaveSettings } from './save-settings';

/** The addresses to which the operator writes. */
export function Contacts({ settings }: { settings: Settings }) {
  const [contacts, setContacts] = useState(settings.contacts);
  const save = useSaveSettings(() => ({ contacts }));
  const failure = save.error as ApiFailure | null;
  const wrong = (failure?.details as { field?: string } | undefined)?.field;
  const input = (role: keyof Settings['contacts'], label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      type="text"
      inputMode="email"
      placeholder="team@example.com"
      value={contacts[role] ?? ''}
      onChange={(event) => setContacts({ ...contacts, [role]: event.currentTarget.value })}
      error={wrong === `contacts.${role}` ? failure?.message : null}
    />
  );
  return (
    <Card title="Contacts">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm">
          {input('technical', 'Technical contact', 'E-mail address for outages and changes.')}
          {input('billing', 'Billing contact', 'E-mail address for invoices.')}
          <Button type="submit" w="fit-content" loading={save.isPending}>
            Save the contacts
          </Button>
          {failure && wrong === undefined && (
            <Failure error={failure} title="The contacts were not saved" />
          )}
        </Stack>
      </form>
    </Card>
  );
}
