// The variables of a template, where they stand, and the components of a message that fills them.
import type { TemplateComponent } from './api/types';

export interface Variable {
  /** Names the value in a contact's `params`. */
  key: string;
  label: string;
  example: string;
}

type Json = Record<string, unknown>;

const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}/g;
const MEDIA = new Set(['IMAGE', 'VIDEO', 'DOCUMENT']);

const namesIn = (text = ''): string[] => [
  ...new Set([...text.matchAll(VARIABLE)].map((match) => match[1] as string)),
];
const isMedia = ({ type, format }: TemplateComponent): boolean =>
  type === 'HEADER' && MEDIA.has(format ?? '');

/** The body keeps the names of its variables; header and buttons count on their own. */
export function variablesOf(components: readonly TemplateComponent[]): Variable[] {
  return components.flatMap((component): Variable[] => {
    const { type, text, format = '' } = component;
    if (type === 'BODY') {
      return namesIn(text).map((name, at) => ({
        key: name,
        label: `Text ${name}`,
        example: exampleOf(component, name, at),
      }));
    }
    if (isMedia(component)) {
      return [{ key: 'header_file', label: `Address of the ${format.toLowerCase()}`, example: '' }];
    }
    if (type === 'HEADER') {
      return namesIn(text).map((name) => ({ key: `header_${name}`, label: 'Header', example: '' }));
    }
    return (component.buttons ?? []).flatMap(({ url, text: label }, at) =>
      namesIn(url).length > 0
        ? [{ key: `button_${at}`, label: `Link of “${label}”`, example: '' }]
        : [],
    );
  });
}

function exampleOf({ example = {} }: TemplateComponent, name: string, at: number): string {
  const named = example['body_text_named_params'] as
    Array<{ param_name: string; example: string }> | undefined;
  const numbered = example['body_text'] as string[][] | undefined;
  return named?.find(({ param_name }) => param_name === name)?.example ?? numbered?.[0]?.[at] ?? '';
}

const isName = (name: string): boolean => !/^\d+$/.test(name);

/** `valueOf` gives the value of a variable: a text, or a placeholder that each contact fills. */
export function messageComponents(
  components: readonly TemplateComponent[],
  valueOf: (key: string) => string,
): Json[] {
  const texts = (text: string | undefined, keyOf: (name: string) => string): Json[] =>
    namesIn(text).map((name) => ({
      type: 'text',
      text: valueOf(keyOf(name)),
      ...(isName(name) && { parameter_name: name }),
    }));
  return components.flatMap((component): Json[] => {
    const { type, text, format = '' } = component;
    if (type === 'BODY')
      return withParameters(
        'body',
        texts(text, (name) => name),
      );
    if (isMedia(component)) {
      const kind = format.toLowerCase();
      const parameter = { type: kind, [kind]: { link: valueOf('header_file') } };
      return withParameters('header', [parameter]);
    }
    if (type === 'HEADER')
      return withParameters(
        'header',
        texts(text, (name) => `header_${name}`),
      );
    return (component.buttons ?? []).flatMap(({ url }, at) =>
      namesIn(url).length > 0
        ? [
            {
              type: 'button',
              sub_type: 'url',
              index: String(at),
              parameters: [{ type: 'text', text: valueOf(`button_${at}`) }],
            },
          ]
        : [],
    );
  });
}

const withParameters = (type: string, parameters: Json[]): Json[] =>
  parameters.length > 0 ? [{ type, parameters }] : [];

/** A text with its variables filled; a variable without a value stays visible. */
export const fillText = (text: string, values: Record<string, string>, prefix = ''): string =>
  text.replace(VARIABLE, (all, name: string) => values[prefix + name] || all);
