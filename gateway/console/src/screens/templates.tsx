// The templates of a business account: state, preview, create, delete.
import { Stack } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/client';
import { templateQuery, TEMPLATES, templatesQuery } from '../api/queries';
import type { Client, Template } from '../api/types';
import { Changeable, IfMay } from '../parts/allowed';
import { Confirm, Opens, Panel, type Closing } from '../parts/dialogs';
import { useOpened } from '../parts/filters';
import { EmptyCard, Facts, Loaded, Page } from '../parts/layout';
import { NumberSelect, useNumber, WithNumber } from '../parts/numbers';
import { type Column, column, Rows } from '../parts/rows';
import { TemplatePreview } from '../parts/templates';
import { State } from '../parts/values';
import { CreateTemplate } from './templates/create';

const COLUMNS: Array<Column<Template>> = [
  column('Name', '1.4fr', ({ name }) => name),
  column('Language', '100px', ({ language }) => language),
  column('Category', '130px', ({ category }) => category.toLowerCase(), { from: 'wide' }),
  column('State', '120px', ({ status }) => <State of={status} />, { bare: true }),
  column(
    'Text',
    '2fr',
    ({ components }) => components.find(({ type }) => type === 'BODY')?.text?.slice(0, 90),
    { from: 'middle', bare: true },
  ),
];

export function Screen() {
  const client = useNumber();
  return (
    <Page
      title="Templates"
      description="Texts that the messaging platform has to approve. Quality and reasons of a rejection arrive as events, and each template shows them."
      actions={
        client && (
          <IfMay scope="manage">
            <Opens
              label="Create a template"
              variant="filled"
              leftSection={<PlusIcon aria-hidden />}
            >
              {(close) => <CreateTemplate client={client} onClose={close} />}
            </Opens>
          </IfMay>
        )
      }
    >
      <WithNumber>
        {(chosen) => (
          <Stack gap="sm">
            <NumberSelect />
            <TemplateList client={chosen} />
          </Stack>
        )}
      </WithNumber>
    </Page>
  );
}

function TemplateList({ client }: { client: Client }) {
  const query = useQuery(templatesQuery(client));
  const { opened, setOpened, close } = useOpened();
  const shown = query.data?.find(({ id }) => id === opened);
  return (
    <Loaded query={query} what="the templates">
      {(templates) => (
        <>
          <Rows
            label="Templates"
            columns={COLUMNS}
            rows={templates}
            keyOf={({ id }) => id}
            onOpen={({ id }) => setOpened(id)}
            empty={
              <EmptyCard title="There is no template yet">
                A template is needed to write first, or after 24 hours without a message.
              </EmptyCard>
            }
          />
          {shown && <TemplateDrawer client={client} template={shown} onClose={close} />}
        </>
      )}
    </Loaded>
  );
}

interface OfTemplate {
  client: Client;
  template: Template;
}

function TemplateDrawer({ client, template, onClose }: Closing<OfTemplate>) {
  const queries = useQueryClient();
  const details = useQuery(templateQuery(client, template.id)).data;
  const reason = details?.rejected_reason;
  const remove = useMutation({
    mutationFn: () =>
      call('DELETE', `/v1/templates/${encodeURIComponent(template.name)}`, { number: client }),
    // The row is removed first, so that the focus goes to the heading when the panel closes.
    onSuccess: async () => {
      await queries.invalidateQueries(TEMPLATES);
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
          <Opens label="Delete" color="red" variant="light" w="fit-content">
            {(close) => (
              <Confirm
                title={`Delete ${template.name}?`}
                action="Delete"
                typed={template.name}
                work={remove}
                onClose={close}
              >
                The template is deleted in all languages.
              </Confirm>
            )}
          </Opens>
        </Changeable>
      </Stack>
    </Panel>
  );
}
