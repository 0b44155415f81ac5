import { Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { SaveForm, useSaveSettings } from './save-settings';

/** The origins of the partner's pages that open a sign-up, or to which it leads. */
export function ConnectOrigins({ settings }: { settings: Settings }) {
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
