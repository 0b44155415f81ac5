import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { SaveForm, useSaveSettings } from './save-settings';

/** The picture that the partner's clients see when they sign up. */
export function Logo({ settings }: { settings: Settings }) {
  const [address, setAddress] = useState(settings.logo_url ?? '');
  const saving = useSaveSettings(() => ({ logo_url: address.trim() || null }));
  return (
    <Card title="Logo">
      <SaveForm {...saving} action="Save the logo" what="The logo was" fields={['logo_url']}>
        {settings.logo_id && (
          <img
            src={`../connect/logo/${settings.logo_id}`}
            alt="Your logo"
            className="logo-preview"
          />
        )}
        <TextInput
          label="Logo address"
          description="A PNG, JPEG or WebP picture of at most 256 KiB. It is fetched when you save, and shown to your clients from here."
          type="url"
          placeholder="https://example.com/logo.png"
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
          error={saving.refusalOf('logo_url')}
        />
      </SaveForm>
    </Card>
  );
}
