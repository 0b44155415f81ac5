// The audit log: who changed what, newest first, and each change with its values.
import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { readFile } from '../../api/client';
import { auditQuery } from '../../api/queries';
import type { AuditRecord } from '../../api/types';
import { Card } from '../../parts/card';
import { download } from '../../parts/csv';
import { Empty } from '../../parts/empty';
import { Facts } from '../../parts/facts';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { Page } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { Rows, type Column } from '../../parts/rows';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';

const ACTORS: Readonly<Record<string, string>> = {
  partner_key: 'Partner key',
  api_key: 'API key',
  console: 'Console',
  sign_up_link: 'Sign-up link',
  operator: 'Operator',
};

const actorOf = ({ actor }: AuditRecord): string =>
  [ACTORS[actor.type] ?? actor.type, actor.name].filter(Boolean).join(' ');

const targetOf = ({ target }: AuditRecord): string => Object.values(target).join(', ') || '–';

const COLUMNS: Array<Column<AuditRecord>> = [
  { title: 'Action', width: '1.4fr', cell: ({ action }) => action },
  { title: 'Who', width: '1fr', cell: actorOf, labelled: true },
  { title: 'What', width: '1.2fr', cell: targetOf, labelled: true },
  { title: 'Outcome', width: '120px', cell: ({ outcome }) => <State of={outcome} /> },
  { title: 'Time', width: '180px', cell: ({ at }) => <Time value={at} />, labelled: true },
];

export function Screen() {
  const query = useInfiniteQuery(auditQuery);
  const [opened, setOpened] = useState<AuditRecord>();
  const records = query.data?.pages.flatMap((page) => page.records) ?? [];
  return (
    <Page
      title="Audit log"
      description="Every change that your keys, your console sessions and the operator made in the last 400 days. Sends and reads are not among them."
      actions={<Export />}
    >
      <Loaded query={query as never} what="the audit log" lines={8}>
        {() =>
          records.length > 0 ? (
            <Rows
              label="Changes"
              columns={COLUMNS}
              rows={records}
              keyOf={({ id }) => id}
              onOpen={setOpened}
              onEnd={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
            />
          ) : (
            <Card>
              <Empty title="No change yet">The first one appears here.</Empty>
            </Card>
          )
        }
      </Loaded>
      {opened && <Details of={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}

function Details({ of, onClose }: { of: AuditRecord; onClose: () => void }) {
  return (
    <Panel title={of.action} onClose={onClose}>
      <Stack gap="md">
        <Group gap="xs">
          <State of={of.outcome} />
          {of.code && <Text size="sm">{of.code}</Text>}
        </Group>
        <Facts
          of={[
            ['Time', <Time value={of.at} as="exact" />],
            ['Who', actorOf(of)],
            ['ID of who', of.actor.id],
            ['Address', of.address],
            ...Object.entries(of.target).map(([name, id]) => [name, id] as const),
            ['Fields', of.fields.join(', ') || null],
            ['Request ID', of.request_id],
          ]}
        />
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

function Export() {
  const file = useMutation({
    mutationFn: () => readFile('/v1/audit', { query: {}, accept: 'text/csv' }),
    onSuccess: (content) => download('audit.csv', content),
  });
  return (
    <>
      <Button variant="default" loading={file.isPending} onClick={() => file.mutate()}>
        Export CSV
      </Button>
      {file.error && <Failure error={file.error} title="The audit log was not exported" />}
    </>
  );
}
