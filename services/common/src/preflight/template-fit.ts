// Whether the components of a send fit a template, by the upstream's rules. Pure.
import { isObject, type Json } from '../upstream';
import { upstreamRefusal, type Reason } from './findings';

const BODY_MAX = 1_024;
const HEADER_MAX = 60;
const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}/g;
const NUMBER = /^\d+$/;
/** The upstream takes neither in the text of a parameter. */
const UNFIT = /[\n\r\t]| {5}/;
const UNFIT_TEXT = 'must not have a line break, a tab, or more than four spaces in a row';
const MEDIA_FORMATS = ['IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'];

const misfit = (upstream_code: number, message: string): Reason =>
  upstreamRefusal(upstream_code, message, 'template.components');

/** The first fault; undefined if the components fit. */
export function templateMisfit(
  template: readonly Json[],
  sent: readonly unknown[],
): Reason | undefined {
  const given = sent.filter(isObject);
  if (given.length < sent.length || given.some(({ type }) => typeof type !== 'string')) {
    return misfit(100, 'every component needs a type');
  }
  const componentOf = (type: string): Json | undefined =>
    given.find((component) => String(component['type']).toLowerCase() === type);
  for (const part of template) {
    const fault = partMisfit(part, componentOf);
    if (fault) return fault;
  }
  return buttonsMisfit(template, given);
}

function partMisfit(
  part: Json,
  componentOf: (type: string) => Json | undefined,
): Reason | undefined {
  if (part['type'] === 'BODY') return textMisfit(part, componentOf('body'), 'body', BODY_MAX);
  if (part['type'] !== 'HEADER') return undefined;
  const format = String(part['format'] ?? 'TEXT');
  if (!MEDIA_FORMATS.includes(format)) {
    return textMisfit(part, componentOf('header'), 'header', HEADER_MAX);
  }
  const kind = format.toLowerCase();
  const [parameter] = parametersOf(componentOf('header'));
  if (parameter?.['type'] !== kind) {
    return misfit(132_012, `the header needs a parameter of type ${kind}`);
  }
  if (format === 'LOCATION') return undefined;
  const media = parameter[kind];
  const sources = isObject(media) ? ['id', 'link'].filter((key) => media[key] !== undefined) : [];
  return sources.length === 1
    ? undefined
    : misfit(131_008, `the header’s ${kind} needs either id or link`);
}

function textMisfit(
  part: Json,
  component: Json | undefined,
  where: string,
  length_max: number,
): Reason | undefined {
  const text = String(part['text'] ?? '');
  const wanted = [...new Set([...text.matchAll(VARIABLE)].map((match) => match[1] as string))];
  const given = parametersOf(component);
  if (given.length !== wanted.length) {
    return misfit(
      132_000,
      `the ${where} takes ${wanted.length} parameters and gets ${given.length}`,
    );
  }
  let length = text.replace(VARIABLE, '').length;
  for (const [at, parameter] of given.entries()) {
    const which = `parameter ${at + 1} of the ${where}`;
    const name = NUMBER.test(wanted[0] as string) ? wanted[at] : parameter['parameter_name'];
    if (typeof name !== 'string' || !wanted.includes(name)) {
      return misfit(132_012, `${which} needs a parameter_name: one of ${wanted.join(', ')}`);
    }
    const value = valueOf(parameter, which);
    if (typeof value !== 'string') return value;
    length += value.length;
  }
  return length > length_max
    ? misfit(132_005, `the ${where} is longer than ${length_max} characters`)
    : undefined;
}

/** The text of a parameter, or its fault. */
function valueOf(parameter: Json, which: string): string | Reason {
  const { type, text } = parameter;
  if (type === 'text') {
    if (typeof text === 'string' && UNFIT.test(text)) return misfit(100, `${which} ${UNFIT_TEXT}`);
    if (typeof text === 'string' && text !== '') return text;
    const code = text === undefined || text === null || text === '' ? 131_008 : 131_009;
    return misfit(code, `${which} needs a text`);
  }
  const content = typeof type === 'string' ? parameter[type] : undefined;
  const fallback = isObject(content) ? content['fallback_value'] : undefined;
  if ((type === 'currency' || type === 'date_time') && typeof fallback === 'string') {
    return fallback;
  }
  return misfit(132_012, `${which} must be a text`);
}

/** A button with a variable part needs a component of its own. */
function buttonsMisfit(template: readonly Json[], given: readonly Json[]): Reason | undefined {
  const part = template.find(({ type }) => type === 'BUTTONS');
  const buttons = Array.isArray(part?.['buttons']) ? (part['buttons'] as Json[]) : [];
  const sent = new Map(
    given
      .filter(({ type }) => String(type).toLowerCase() === 'button')
      .map((component) => [Number(component['index'] ?? 0), component]),
  );
  for (const index of sent.keys()) {
    if (!buttons[index]) {
      return misfit(132_000, `the template has no button ${index}`);
    }
  }
  for (const [index, button] of buttons.entries()) {
    const needed = subTypeOf(button);
    if (needed === undefined) continue;
    const component = sent.get(index);
    if (!component || parametersOf(component).length === 0) {
      return misfit(131_008, `button ${index} needs a parameter`);
    }
    if (String(component['sub_type']).toLowerCase() !== needed) {
      return misfit(132_012, `button ${index} needs the sub_type ${needed}`);
    }
  }
  return undefined;
}

/** The `sub_type` of the component that a button needs; undefined if it needs none. */
function subTypeOf({ type, url }: Json): string | undefined {
  if (type === 'OTP') return 'url';
  if (type === 'COPY_CODE') return 'copy_code';
  return type === 'URL' && /\{\{/.test(String(url ?? '')) ? 'url' : undefined;
}

const parametersOf = (component: Json | undefined): Json[] => {
  const parameters = component?.['parameters'];
  return Array.isArray(parameters) ? (parameters as unknown[]).filter(isObject) : [];
};

/** Contract 4.6: one-tap, zero-tap and copy-code templates. */
export const needsPhone = (category: string, components: readonly Json[]): boolean =>
  category === 'AUTHENTICATION' &&
  components.some(
    ({ type, buttons }) =>
      type === 'BUTTONS' &&
      Array.isArray(buttons) &&
      (buttons as unknown[]).some((button) => isObject(button) && button['type'] === 'OTP'),
  );

/** The events of `message_template_status_update` that the upstream lists as another status. */
const STATUS_AFTER: Readonly<Record<string, string | undefined>> = {
  REINSTATED: 'APPROVED',
  UNARCHIVED: 'APPROVED',
  // Neither is a status: the template is listed as before.
  FLAGGED: undefined,
  LOCKED: undefined,
};

/** The status of a template after an event; undefined if the event does not change it. */
export const statusAfter = (event: string): string | undefined =>
  event in STATUS_AFTER ? STATUS_AFTER[event] : event;

/** The upstream's events spell a language in both ways, its lists in one. */
export const languageOf = (language: string): string => language.replace('-', '_');
