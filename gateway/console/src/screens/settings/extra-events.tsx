import { Box, Checkbox, SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { extraEventsQuery } from '../../api/queries';
import type { ExtraEvent, Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { Loaded } from '../../parts/loaded';
import { SaveForm, useSaveSettings } from './save-settings';

/** The events that the webhook address gets only when they are chosen. */
export function ExtraEvents({ settings }: { settings: Settings }) {
  const query = useQuery(extraEventsQuery);
  return (
    <Card title="Extra events">
      <Loaded query={query} what="the extra events" lines={3}>
        {(known) => <Choice known={known} chosen={settings.extra_events} />}
      </Loaded>
    </Card>
  );
}

function Choice({ known, chosen }: { known: ExtraEvent[]; chosen: string[] }) {
  const [names, setNames] = useState(chosen);
  const saving = useSaveSettings(() => ({ extra_events: names }));
  return (
    <SaveForm {...saving} action="Save the events" what="The events were">
      <Checkbox.Group
        label="Events to send as well"
        description="Your webhook address gets these only if you choose them here. An endpoint names them in its own filter."
        value={names}
        onChange={setNames}
      >
        <Box mt="xs" className="events-to-choose">
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
            {known.map(({ event, summary }) => (
              <Checkbox key={event} value={event} label={event} description={summary} />
            ))}
          </SimpleGrid>
        </Box>
      </Checkbox.Group>
    </SaveForm>
  );
}
