import { Button, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { ApiFailure } from '../../api/client';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { Failure } from '../../parts/failure';
import { useSaveSettings } from './save-settings';

/** The origins of the partner's pages that open a sign-up, or to which it leads. */
export function ConnectOrigins({ settings }: { settings: Settings }) {
  const [lines, setLines] = useState(settings.connect_origins.join('\n'));
  const save = useSaveSettings(() => ({
    connect_origins: lines.split(/\s+/).filter((origin) => origin !== ''),
  }));
  const refused = (save.error as ApiFailure | null)?.code === 'INVALID_FIELD';
  return (
    <Card title="Pages of the sign-up">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm">
          <Textarea
            label="Allowed origins"
            description="One in a line, at most 20. A sign-up leads only to pages of these origins, and once there is one, only they can open it."
            placeholder="https://shop.example.com"
            autosize
            minRows={2}
            value={lines}
            onChange={(event) => setLines(event.currentTarget.value)}
            error={refused ? save.error?.message : null}
          />
          <Button type="submit" w="fit-content" loading={save.isPending}>
            Save the origins
          </Button>
          {save.error && !refused && (
            <Failure error={save.error} title="The origins were not saved" />
          )}
        </Stack>
      </form>
    </Card>
  );
}
