import { Button, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import type { Client, TemplateComponent } from '../../api/types';
import { Failure } from '../../parts/failure';
import { Dialog } from '../../parts/panel';
import { TemplatePreview } from '../../parts/preview';
import { Variables } from '../../parts/variables';
import { variablesOf } from '../../template';

interface Draft {
  name: string;
  language: string;
  category: string;
  header: string;
  body: string;
  footer: string;
  replies: string;
}

const EMPTY: Draft = {
  name: '',
  language: 'en_US',
  category: 'UTILITY',
  header: '',
  body: '',
  footer: '',
  replies: '',
};
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
export function CreateTemplate({ client, onClose }: { client: Client; onClose: () => void }) {
  const [draft, setDraft] = useState(EMPTY);
  const [examples, setExamples] = useState<Record<string, string>>({});
  const queries = useQueryClient();
  const components = componentsOf(draft);
  const variables = variablesOf(components).filter(({ key }) => /^\d+$/.test(key));
  const create = useMutation({
    mutationFn: () => {
      const values = variables.map(({ key }) => examples[key] ?? '');
      const example = values.length > 0 ? { example: { body_text: [values] } } : {};
      return call('POST', '/v1/templates', {
        number: client,
        body: {
          name: draft.name,
          language: draft.language,
          category: draft.category,
          components: components.map((one) => (one.type === 'BODY' ? { ...one, ...example } : one)),
        },
      });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['templates'] });
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title="Create a template" size="xl">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Group align="flex-start" gap="xl">
          <Stack flex="1 1 300px">
            <DraftFields draft={draft} onChange={setDraft} />
            <Variables variables={variables} values={examples} onChange={setExamples} />
          </Stack>
          <TemplatePreview components={components} values={examples} />
        </Group>
        <Stack mt="md">
          {create.error && <Failure error={create.error} title="The template was not created" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Submit for approval
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface DraftFieldsProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
}

function DraftFields({ draft, onChange }: DraftFieldsProps) {
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
