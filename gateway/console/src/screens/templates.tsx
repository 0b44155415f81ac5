// The templates of a business account: state, preview, create, delete.
import { Button, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { PlusIcon } from '@radix-ui/react-icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import { templateQuery, templatesQuery } from '../api/queries';
import type { Client, Template } from '../api/types';
import { Changeable, IfMay } from '../parts/allowed';
import { Card } from '../parts/card';
import { Confirm } from '../parts/confirm';
import { Empty } from '../parts/empty';
import { Facts } from '../parts/facts';
import { Loaded } from '../parts/loaded';
import { NoNumber } from '../parts/no-number';
import { NumberSelect, useNumber } from '../parts/number-select';
import { Page } from '../parts/page';
import { Panel } from '../parts/panel';
import { TemplatePreview } from '../parts/preview';
import { Rows, type Column } from '../parts/rows';
import { useFilters } from '../parts/search';
import { State } from '../parts/state';
import { CreateTemplate } from './templates/create';

const COLUMNS: Array<Column<Template>> = [
  { title: 'Name', width: '1.4fr', cell: ({ name }) => name },
  { title: 'Language', width: '100px', cell: ({ language }) => language, labelled: true },
  {
    title: 'Category',
    from: 'wide',
    width: '130px',
    cell: ({ category }) => category.toLowerCase(),
    labelled: true,
  },
  { title: 'State', width: '120px', cell: ({ status }) => <State of={status} /> },
  {
    title: 'Text',
    from: 'middle',
    width: '2fr',
    cell: ({ components }) => components.find(({ type }) => type === 'BODY')?.text?.slice(0, 90),
  },
];

export function Screen() {
  const { client } = useNumber();
  const [creating, create] = useDisclosure();
  return (
    <Page
      title="Templates"
      description="Texts that the messaging platform has to approve. Quality and reasons of a rejection arrive as events, and each template shows them."
      actions={
        client && (
          <IfMay scope="manage">
            <Button leftSection={<PlusIcon aria-hidden />} onClick={create.open}>
              Create a template
            </Button>
          </IfMay>
        )
      }
    >
      {client && (
        <Stack gap="sm">
          <NumberSelect />
          <TemplateList client={client} />
        </Stack>
      )}
      {!client && <NoNumber />}
      {creating && client && <CreateTemplate client={client} onClose={create.close} />}
    </Page>
  );
}

function TemplateList({ client }: { client: Client }) {
  const query = useQuery(templatesQuery(client));
  const [{ open }, setFilters] = useFilters();
  const shown = query.data?.find(({ id }) => id === open);
  return (
    <Loaded query={query} what="the templates">
      {(templates) => (
        <>
          {templates.length > 0 ? (
            <Rows
              label="Templates"
              columns={COLUMNS}
              rows={templates}
              keyOf={({ id }) => id}
              onOpen={({ id }) => setFilters({ open: id })}
            />
          ) : (
            <Card>
              <Empty title="There is no template yet">
                A template is needed to write first, or after 24 hours without a message.
              </Empty>
            </Card>
          )}
          {shown && (
            <TemplateDrawer
              client={client}
              template={shown}
              onClose={() => setFilters({ open: undefined })}
            />
          )}
        </>
      )}
    </Loaded>
  );
}

interface TemplateDrawerProps {
  client: Client;
  template: Template;
  onClose: () => void;
}

function TemplateDrawer({ client, template, onClose }: TemplateDrawerProps) {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const details = useQuery(templateQuery(client, template.id)).data;
  const reason = details?.rejected_reason;
  const remove = useMutation({
    mutationFn: () =>
      call('DELETE', `/v1/templates/${encodeURIComponent(template.name)}`, { number: client }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['templates'] });
      onClose();
    },
  });
  return (
    <Panel onClose={onClose} title={template.name}>
      <Stack gap="lg">
        <TemplatePreview components={template.components} />
        <Facts
          of={[
            ['State', <State of={template.status} />],
            ['Language', template.language],
            ['Category', template.category.toLowerCase()],
            ['Quality', details?.quality_score && <State of={details.quality_score.score} />],
            ['Rejected because', reason === 'NONE' ? undefined : reason],
            ['Template ID', template.id],
          ]}
        />
        <Changeable scope="manage">
          <Button color="red" variant="light" w="fit-content" onClick={() => setAsking(true)}>
            Delete
          </Button>
        </Changeable>
      </Stack>
      {asking && (
        <Confirm
          title={`Delete ${template.name}?`}
          action="Delete"
          typed={template.name}
          pending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          The template is deleted in all languages.
        </Confirm>
      )}
    </Panel>
  );
}
