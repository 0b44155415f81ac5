import { Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ApiFailure } from '../../api/client';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { Failure } from '../../parts/failure';
import { useSaveSettings } from './save-settings';

/** The picture that the partner's clients see when they sign up. */
export function Logo({ settings }: { settings: Settings }) {
  const [address, setAddress] = useState(settings.logo_url ?? '');
  const save = useSaveSettings(() => ({ logo_url: address.trim() === '' ? null : address.trim() }));
  const refused = (save.error as ApiFailure | null)?.code === 'INVALID_FIELD';
  return (
    <Card title="Sign-up page">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm">
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
            error={refused ? save.error?.message : null}
          />
          <Button type="submit" w="fit-content" loading={save.isPending}>
            Save the logo
          </Button>
          {save.error && !refused && <Failure error={save.error} title="The logo was not saved" />}
        </Stack>
      </form>
    </Card>
  );
}
