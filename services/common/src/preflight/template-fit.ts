// Whether the components of a send fit a template, by the upstream's rules. Pure.
import { isObject, type Json } from '../upstream';
import { upstreamRefusal, type Reason } from './reasons';

const BODY_MAX = 1_024;
const HEADER_MAX = 60;
const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}/g;
const NUMBER = /^\d+$/;
/** The upstream takes neither in the text of a parameter. */
const UNFIT = /[\n\r\t]| {5}/;
const UNFIT_TEXT = 'must not have a line break, a tab, or more than four spaces in a row';
const MEDIA_FORMATS = ['IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'];
const FIELD = 'template.components';

/** The first fault; undefined if the components fit. */
export function templateMisfit(
  template: readonly Json[],
  sent: readonly unknown[],
): Reason | undefined {
  const given = sent.filter(isObject);
  if (given.length < sent.length || given.some(({ type }) => typeof type !== 'string')) {
    return upstreamRefusal(100, 'every component needs a type', FIELD);
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
    return upstreamRefusal(132_012, `the header needs a parameter of type ${kind}`, FIELD);
  }
  if (format === 'LOCATION') return undefined;
  const media = parameter[kind];
  const sources = isObject(media) ? ['id', 'link'].filter((key) => media[key] !== undefined) : [];
  return sources.length === 1
    ? undefined
    : upstreamRefusal(131_008, `the header’s ${kind} needs either id or link`, FIELD);
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
    return upstreamRefusal(
      132_000,
      `the ${where} takes ${wanted.length} parameters and gets ${given.length}`,
      FIELD,
    );
  }
  let length = text.replace(VARIABLE, '').length;
  for (const [at, parameter] of given.entries()) {
    const name = NUMBER.test(wanted[0] as string) ? wanted[at] : parameter['parameter_name'];
    if (typeof name !== 'string' || !wanted.includes(name)) {
      return upstreamRefusal(
        132_012,
        `parameter ${at + 1} of the ${where} needs a parameter_name: one of ${wanted.join(', ')}`,
        FIELD,
      );
    }
    const value = valueOf(parameter);
    if (typeof value !== 'string') return value(where, at);
    length += value.length;
  }
  return length > length_max
    ? upstreamRefusal(132_005, `the ${where} is longer than ${length_max} characters`, FIELD)
    : undefined;
}

type Fault = (where: string, at: number) => Reason;

/** The text of a parameter, or its fault. */
function valueOf(parameter: Json): string | Fault {
  const { type, text } = parameter;
  if (type === 'text') {
    if (typeof text === 'string' && UNFIT.test(text)) {
      return (where, at) =>
        upstreamRefusal(100, `parameter ${at + 1} of the ${where} ${UNFIT_TEXT}`, FIELD);
    }
    if (typeof text === 'string' && text !== '') return text;
    const code = text === undefined || text === null || text === '' ? 131_008 : 131_009;
    return (where, at) =>
      upstreamRefusal(code, `parameter ${at + 1} of the ${where} needs a text`, FIELD);
  }
  const content = typeof type === 'string' ? parameter[type] : undefined;
  const fallback = isObject(content) ? content['fallback_value'] : undefined;
  if ((type === 'currency' || type === 'date_time') && typeof fallback === 'string') {
    return fallback;
  }
  return (where, at) =>
    upstreamRefusal(132_012, `parameter ${at + 1} of the ${where} must be a text`, FIELD);
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
      return upstreamRefusal(132_000, `the template has no button ${index}`, FIELD);
    }
  }
  for (const [index, button] of buttons.entries()) {
    const needed = subTypeOf(button);
    if (needed === undefined) continue;
    const component = sent.get(index);
    if (!component || parametersOf(component).length === 0) {
      return upstreamRefusal(131_008, `button ${index} needs a parameter`, FIELD);
    }
    if (String(component['sub_type']).toLowerCase() !== needed) {
      return upstreamRefusal(132_012, `button ${index} needs the sub_type ${needed}`, FIELD);
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
