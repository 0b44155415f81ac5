// The audit log: each change as a sentence, newest first, filtered by who, action and day, with its
// values behind it.
import { Autocomplete, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readFile } from '../../api/client';
import {
  auditQuery,
  clientsQuery,
  endpointsQuery,
  keysQuery,
  peopleQuery,
} from '../../api/queries';
import type { AuditRecord } from '../../api/types';
import { nameOf as clientNameOf } from '../../attention';
import { Panel, type Closing } from '../../parts/dialogs';
import { Export } from '../../parts/export';
import { FilterDays, Filters, FilterSelect } from '../../parts/filter-fields';
import { momentsOf, useFilters, useTyped } from '../../parts/filters';
import { EmptyCard, Facts, Loaded } from '../../parts/layout';
import { type Column, column, Rows, timeColumn } from '../../parts/rows';
import { State, Time } from '../../parts/values';
import { SettingsPage } from './page';
import { nameOf as endpointName } from './receiver-rows';
import { sentenceOf, type NameOf } from './sentences';

const ACTORS: Readonly<Record<string, string>> = {
  partner_key: 'Partner key',
  api_key: 'API key',
  person: 'Person',
  console: 'Console',
  sign_up_link: 'Sign-up link',
  operator: 'Operator',
};

const actorInFull = ({ actor }: AuditRecord): string =>
  [ACTORS[actor.type] ?? actor.type, actor.name].filter(Boolean).join(' ');

const columnsOf = (nameOf: NameOf): Array<Column<AuditRecord>> => [
  column('Change', '1fr', (record) => sentenceOf(record, nameOf)),
  column('Outcome', '120px', ({ outcome }) => <State of={outcome} />, { bare: true }),
  timeColumn('Time', ({ at }) => at),
];

export function Screen() {
  const [{ actor, action, ...period }, setFilters] = useFilters();
  const filter = { actor, action, ...momentsOf(period) };
  const query = useInfiniteQuery(auditQuery(filter));
  const [opened, setOpened] = useState<AuditRecord>();
  const nameOf = useNames();
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <SettingsPage
      to="/settings/audit"
      description="Every change that your keys, your people, your console sessions and the operator made in the last 400 days. Sends and reads are not among them."
      actions={
        <Export
          failure="The audit log was not exported"
          file="audit.csv"
          read={() => readFile('/v1/audit', { query: filter, accept: 'text/csv' })}
        />
      }
    >
      <Stack gap="sm">
        <AuditFilters />
        <Loaded query={query} what="the audit log" lines={8}>
          {({ pages }) => (
            <Rows
              label="Changes"
              columns={columnsOf(nameOf)}
              rows={pages.flatMap(({ records }) => records)}
              keyOf={({ id }) => id}
              onOpen={setOpened}
              paging={query}
              empty={
                <EmptyCard title={filtered ? 'No change matches' : 'No change yet'}>
                  {filtered ? 'Change the filters above.' : 'The first one appears here.'}
                </EmptyCard>
              }
            />
          )}
        </Loaded>
      </Stack>
      {opened && (
        <Details
          of={opened}
          title={sentenceOf(opened, nameOf)}
          onClose={() => setOpened(undefined)}
          onActor={(id) => {
            setFilters({ actor: id });
            setOpened(undefined);
          }}
        />
      )}
    </SettingsPage>
  );
}

/** The present names of keys, people, receivers and numbers, by ID. */
function useNames(): NameOf {
  const { data: keys = [] } = useQuery(keysQuery);
  const { data: people = [] } = useQuery(peopleQuery);
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const { data: clients = [] } = useQuery(clientsQuery);
  const names = new Map([
    ...keys.map(({ key_id, name }) => [key_id, name] as const),
    ...people.map(({ person_id, email }) => [person_id, email] as const),
    ...endpoints.map((one) => [one.endpoint_id, endpointName(one)] as const),
    ...clients.flatMap((one) =>
      [one.waba_id, one.phone_number_id].map((id) => [id, clientNameOf(one)] as const),
    ),
  ]);
  return (id) => names.get(id);
}

function AuditFilters() {
  const [{ actor }] = useFilters();
  const { data: keys = [] } = useQuery(keysQuery);
  const { data: people = [] } = useQuery(peopleQuery);
  const [text, setText] = useTyped('action');
  const latest = useInfiniteQuery(auditQuery({})).data?.pages.flatMap(({ records }) => records);
  const who = [
    ...Object.entries(ACTORS).map(([value, label]) => ({ value, label })),
    ...keys.map(({ key_id, name }) => ({ value: key_id, label: `API key ${name}` })),
    ...people.map(({ person_id, email }) => ({ value: person_id, label: email })),
  ];
  // A session or a link, chosen from a change.
  const is_other = actor !== undefined && !who.some(({ value }) => value === actor);
  return (
    <Filters>
      <FilterSelect
        name="actor"
        label="Who"
        placeholder="Anyone"
        clearButtonProps={{ 'aria-label': 'Show the changes of anyone' }}
        data={is_other ? [...who, { value: actor, label: actor }] : who}
        searchable
      />
      <Autocomplete
        label="Action"
        placeholder="POST /keys"
        data={[...new Set(latest?.map((record) => record.action))].sort()}
        value={text}
        onChange={setText}
      />
      <FilterDays />
    </Filters>
  );
}

interface DetailsProps {
  of: AuditRecord;
  title: string;
  /** Shows only the changes of this key, session or link. */
  onActor: (id: string) => void;
}

function Details({ of, title, onClose, onActor }: Closing<DetailsProps>) {
  const { id: actor_id } = of.actor;
  return (
    <Panel title={title} onClose={onClose}>
      <Stack gap="md">
        <Group gap="xs">
          <State of={of.outcome} />
          {of.code && <Text size="sm">{of.code}</Text>}
        </Group>
        <Facts
          of={[
            ['Time', <Time value={of.at} as="exact" />],
            ['Action', of.action],
            ['Who', actorInFull(of)],
            ['ID of who', of.actor.id],
            ['Address', of.address],
            ...Object.entries(of.target).map(([name, id]) => [name, id] as const),
            ['Changes', of.count > 1 ? String(of.count) : null],
            ['Fields', of.fields.join(', ') || null],
            ['Request ID', of.request_id],
          ]}
        />
        {actor_id !== null && (
          <Button w="fit-content" size="xs" variant="default" onClick={() => onActor(actor_id)}>
            Show only the changes of this one
          </Button>
        )}
        <Values title="Before" of={of.before} />
        <Values title="After" of={of.after} />
      </Stack>
    </Panel>
  );
}

function Values({ title, of }: { title: string; of: AuditRecord['before'] }) {
  if (!of) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Code block tabIndex={0}>
        {JSON.stringify(of, null, 2)}
      </Code>
    </Stack>
  );
}
