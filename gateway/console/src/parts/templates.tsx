// Templates of messages: the choice of one, its variables, and the message as a phone shows it.
import { Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { templatesQuery } from '../api/queries';
import type { Client, Template, TemplateComponent } from '../api/types';
import { fillText, type Variable } from '../template';
import { Loaded } from './layout';

export const namedInFull = ({ name, language }: Pick<Template, 'name' | 'language'>): string =>
  `${name} (${language})`;

interface TemplateChoiceProps {
  client: Client;
  /** True for the template that is chosen at first. */
  isFirst?: (template: Template) => boolean;
  children: (template: Template | undefined) => ReactNode;
}

/** A choice among the approved templates. */
export function TemplateChoice({ client, isFirst, children }: TemplateChoiceProps) {
  const query = useQuery(templatesQuery(client));
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Loaded query={query} what="the templates">
      {(templates) => {
        const approved = templates.filter(({ status }) => status === 'APPROVED');
        const template = approved.find((one) =>
          chosen === null ? isFirst?.(one) : one.id === chosen,
        );
        return (
          <>
            <Select
              label="Template"
              placeholder="Choose an approved template"
              maw={360}
              searchable
              data={approved.map((one) => ({ value: one.id, label: namedInFull(one) }))}
              value={template?.id ?? null}
              onChange={setChosen}
            />
            {children(template)}
          </>
        );
      }}
    </Loaded>
  );
}

interface VariablesProps {
  variables: readonly Variable[];
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
}

/** One field for each variable of a template. */
export const Variables = ({ variables, values, onChange }: VariablesProps) =>
  variables.map(({ key, label, example }) => (
    <TextInput
      key={key}
      label={label}
      placeholder={example}
      required
      value={values[key] ?? ''}
      onChange={(event) => onChange({ ...values, [key]: event.currentTarget.value })}
    />
  ));

/** A message as a phone shows it. */
export const TextPreview = ({ text }: { text: string }) => (
  <div className="phone" role="img" aria-label={`Preview: ${text}`}>
    <div className="bubble own">{text || ' '}</div>
  </div>
);

interface TemplatePreviewProps {
  components: readonly TemplateComponent[];
  values?: Record<string, string>;
}

export function TemplatePreview({ components, values = {} }: TemplatePreviewProps) {
  const part = (type: string): TemplateComponent | undefined =>
    components.find((component) => component.type === type);
  const header = part('HEADER');
  const body = fillText(part('BODY')?.text ?? '', values);
  return (
    <div className="phone" role="group" aria-label="Preview">
      <div className="bubble own">
        {header && (
          <strong>
            {header.text
              ? fillText(header.text, values, 'header_')
              : `[${(header.format ?? 'file').toLowerCase()}]`}
          </strong>
        )}
        {header && '\n'}
        {body}
        {part('FOOTER') && <small>{`\n${part('FOOTER')?.text ?? ''}`}</small>}
      </div>
      {(part('BUTTONS')?.buttons ?? []).map(({ text }) => (
        <div key={text} className="bubble-button">
          {text}
        </div>
      ))}
    </div>
  );
}
