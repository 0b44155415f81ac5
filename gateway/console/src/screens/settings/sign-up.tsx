// What the partner's clients see when they sign up, and the pages that may open it.
import { Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/layout';
import { SaveForm, SettingsForms, SettingsPage, useSaveSettings } from './page';

export const Screen = () => (
  <SettingsPage to="/settings/sign-up">
    <SettingsForms>
      {(settings) => (
        <>
          <Logo settings={settings} />
          <ConnectOrigins settings={settings} />
        </>
      )}
    </SettingsForms>
  </SettingsPage>
);

/** The picture that the partner's clients see when they sign up. */
function Logo({ settings }: { settings: Settings }) {
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

/** The origins of the partner's pages that open a sign-up, or to which it leads. */
function ConnectOrigins({ settings }: { settings: Settings }) {
  const [lines, setLines] = useState(settings.connect_origins.join('\n'));
  const saving = useSaveSettings(() => ({
    connect_origins: lines.split(/\s+/).filter((origin) => origin !== ''),
  }));
  return (
    <Card title="Pages of the sign-up">
      <SaveForm
        {...saving}
        action="Save the origins"
        what="The origins were"
        fields={['connect_origins']}
      >
        <Textarea
          label="Allowed origins"
          description="One in a line, at most 20. A sign-up leads only to pages of these origins, and once there is one, only they can open it."
          placeholder="https://shop.example.com"
          autosize
          minRows={2}
          value={lines}
          onChange={(event) => setLines(event.currentTarget.value)}
          error={saving.refusalOf('connect_origins')}
        />
      </SaveForm>
    </Card>
  );
}
