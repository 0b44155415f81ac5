import { Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client';
import { TEMPLATES, useChange } from '../../api/queries';
import type { Client, TemplateComponent } from '../../api/types';
import { FormDialog, type Closing } from '../../parts/dialogs';
import { TemplatePreview, Variables } from '../../parts/templates';
import { variablesOf } from '../../template';

const EMPTY = {
  name: '',
  language: 'en_US',
  category: 'UTILITY',
  header: '',
  body: '',
  footer: '',
  replies: '',
};
type Draft = typeof EMPTY;
const CATEGORIES = [
  { value: 'UTILITY', label: 'Utility' },
  { value: 'MARKETING', label: 'Marketing' },
];

function componentsOf({ header, body, footer, replies }: Draft): TemplateComponent[] {
  const buttons = replies
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => ({ type: 'QUICK_REPLY', text }));
  return [
    ...(header.trim() ? [{ type: 'HEADER', format: 'TEXT', text: header.trim() }] : []),
    { type: 'BODY', text: body.trim() },
    ...(footer.trim() ? [{ type: 'FOOTER', text: footer.trim() }] : []),
    ...(buttons.length > 0 ? [{ type: 'BUTTONS', buttons }] : []),
  ];
}

/** A template of texts. The body's variables are numbered, and each needs an example. */
export function CreateTemplate({ client, onClose }: Closing<{ client: Client }>) {
  const [draft, setDraft] = useState(EMPTY);
  const [examples, setExamples] = useState<Record<string, string>>({});
  const components = componentsOf(draft);
  const variables = variablesOf(components).filter(({ key }) => /^\d+$/.test(key));
  const create = useChange(
    [TEMPLATES],
    () => {
      const values = variables.map(({ key }) => examples[key] ?? '');
      const example = values.length > 0 ? { example: { body_text: [values] } } : {};
      const { name, language, category } = draft;
      return call('POST', '/v1/templates', {
        number: client,
        body: {
          ...{ name, language, category },
          components: components.map((one) => (one.type === 'BODY' ? { ...one, ...example } : one)),
        },
      });
    },
    onClose,
  );
  return (
    <FormDialog
      title="Create a template"
      size="xl"
      action="Submit for approval"
      work={create}
      failure="The template was not created"
      onClose={onClose}
    >
      <Group align="flex-start" gap="xl">
        <Stack flex="1 1 300px">
          <DraftFields draft={draft} onChange={setDraft} />
          <Variables variables={variables} values={examples} onChange={setExamples} />
        </Stack>
        <TemplatePreview components={components} values={examples} />
      </Group>
    </FormDialog>
  );
}

function DraftFields({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const field = (name: keyof Draft) => ({
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ ...draft, [name]: event.currentTarget.value }),
  });
  return (
    <>
      <TextInput
        label="Name"
        description="Lower-case letters, digits and underscores."
        pattern="[a-z0-9_]+"
        required
        data-autofocus
        {...field('name')}
      />
      <Group grow>
        <TextInput label="Language" required {...field('language')} />
        <Select
          label="Category"
          data={CATEGORIES}
          value={draft.category}
          onChange={(category) => onChange({ ...draft, category: category ?? 'UTILITY' })}
          allowDeselect={false}
        />
      </Group>
      <TextInput label="Header" maxLength={60} {...field('header')} />
      <Textarea
        label="Text"
        description="Variables are {{1}}, {{2}} and so on."
        required
        autosize
        minRows={3}
        maxLength={1024}
        {...field('body')}
      />
      <TextInput label="Footer" maxLength={60} {...field('footer')} />
      <Textarea label="Reply buttons" description="One a line." autosize {...field('replies')} />
    </>
  );
}
