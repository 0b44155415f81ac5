// Events chosen by name: for the filter of an endpoint, and the extra ones of the webhook address.
import { Checkbox, SegmentedControl, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { knownEventsQuery, latestEventsQuery } from '../../api/queries';
import type { KnownEvent, LoggedEvent, Settings } from '../../api/types';
import {
  checkedOf,
  chosenOf,
  countsOf,
  familiesOf,
  takes,
  type EventFilter,
  type Family,
} from '../../event-filter';
import { Loaded, LoadedCard } from '../../parts/layout';
import { countOf, nounOf } from '../../period';
import { SaveForm, useSaveSettings } from './page';

interface EventChoiceProps {
  label: string;
  description: string;
  events: readonly KnownEvent[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** Families can be chosen as a whole. */
  with_families?: boolean;
  error?: string | null;
}

function EventChoice(props: EventChoiceProps) {
  const { events, chosen, onChange, with_families = false, ...group } = props;
  const [find, setFind] = useState('');
  const latest = useQuery(latestEventsQuery).data ?? [];
  const families = familiesOf(events, find);
  const counts = countsOf(latest);
  return (
    <Checkbox.Group
      {...group}
      value={checkedOf(chosen, events)}
      onChange={(checked) => onChange(chosenOf(chosen, checked))}
    >
      <Stack gap="xs" mt="xs">
        <TextInput
          type="search"
          aria-label="Find an event"
          placeholder="Name or purpose"
          value={find}
          onChange={({ currentTarget }) => setFind(currentTarget.value)}
          // Enter would save the form.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
        <div className="events-to-choose">
          {families.map((family) => (
            <FamilyBoxes
              key={family.name}
              family={with_families ? family : { ...family, filter: null }}
              chosen={chosen}
              textOf={({ event, summary }) => {
                const count = counts.get(event);
                // An extra event that no receiver gets is not in the log.
                const seen = count
                  ? ` ${countOf(count)} of your latest ${nounOf(latest.length, 'event')}.`
                  : '';
                return `${plain(summary)}.${seen}`;
              }}
            />
          ))}
          {families.length === 0 && <Text size="sm">No event matches.</Text>}
        </div>
      </Stack>
    </Checkbox.Group>
  );
}

/** Summaries are Markdown. */
const plain = (summary: string): string => summary.replaceAll('`', '');

const BOLD_LABEL = { label: { fontWeight: 600 } };

interface FamilyBoxesProps {
  family: Family;
  chosen: readonly string[];
  textOf: (event: KnownEvent) => string;
}

function FamilyBoxes({ family: { name, filter, events }, chosen, textOf }: FamilyBoxesProps) {
  const is_whole = filter !== null && chosen.includes(filter);
  return (
    <div role="group" aria-label={name}>
      {filter === null ? (
        <Text size="sm" fw={600}>
          {name}
        </Text>
      ) : (
        <Checkbox
          value={filter}
          label={filter}
          description={`All events of ${name}, also later ones`}
          styles={BOLD_LABEL}
        />
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        {events.map((event) => (
          <Checkbox
            key={event.event}
            value={event.event}
            label={event.event}
            description={textOf(event)}
            disabled={is_whole}
          />
        ))}
      </SimpleGrid>
    </div>
  );
}

interface FilterFieldProps {
  filter: EventFilter;
  onChange: (filter: EventFilter) => void;
  error: string | null;
}

/** What an endpoint gets: all events, or those that are chosen. */
export function FilterField({ filter, onChange, error }: FilterFieldProps) {
  const query = useQuery(knownEventsQuery);
  const latest = useQuery(latestEventsQuery).data ?? [];
  // What was chosen comes back with the choice.
  const [chosen, setChosen] = useState(filter ?? []);
  return (
    <Loaded query={query} what="the events" lines={3}>
      {(events) => (
        <Stack gap="xs">
          <SegmentedControl
            aria-label="Events"
            w="fit-content"
            value={filter === null ? 'all' : 'chosen'}
            onChange={(value) => onChange(value === 'all' ? null : chosen)}
            data={[
              { value: 'all', label: 'All events' },
              { value: 'chosen', label: 'Chosen events' },
            ]}
          />
          {filter === null ? (
            <Text size="sm">
              It gets every event but the extra ones, which are sent only where they are chosen.
            </Text>
          ) : (
            <EventChoice
              label="Events"
              description="It gets those that you choose, by family or by name."
              events={events}
              chosen={filter}
              onChange={(names) => {
                setChosen(names);
                onChange(names);
              }}
              error={error && filter.length === 0 ? 'Choose at least one event.' : error}
              with_families
            />
          )}
          {latest.length > 0 && (
            <Text size="sm" c="dimmed" role="status">
              {shareOf(filter, latest, events)}
            </Text>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

function shareOf(
  filter: EventFilter,
  latest: readonly LoggedEvent[],
  events: readonly KnownEvent[],
): string {
  const extra = new Set(events.filter((one) => one.extra).map(({ event }) => event));
  const taken = latest.filter(({ event }) => takes(filter, { event, extra: extra.has(event) }));
  return `It takes ${countOf(taken.length)} of your latest ${nounOf(latest.length, 'event')}.`;
}

/** The events that the webhook address gets only when they are chosen. */
export function ExtraEvents({ settings }: { settings: Settings }) {
  const query = useQuery(knownEventsQuery);
  const [names, setNames] = useState<string[]>(settings.extra_events);
  const saving = useSaveSettings(() => ({ extra_events: names }));
  return (
    <LoadedCard title="Extra events" query={query} what="the extra events" lines={3}>
      {(events) => (
        <SaveForm {...saving} action="Save the events" what="The events were">
          <EventChoice
            label="Events to send as well"
            description="Your webhook address gets all other events, and these only if you choose them."
            events={events.filter(({ extra }) => extra)}
            chosen={names}
            onChange={setNames}
          />
        </SaveForm>
      )}
    </LoadedCard>
  );
}
