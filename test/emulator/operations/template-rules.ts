// Checks a new template: its parts, their lengths, and an example for every variable.
import { invalid, type UpstreamError } from '../errors';
import type { JsonObject } from '../types';
import { variablesOf } from './message-template';
import { isObject } from './parameters';

const BODY_MAX = 1024;
const HEADER_MAX = 60;
const FOOTER_MAX = 60;
const BUTTON_TEXT_MAX = 25;
const BUTTONS_MAX = 10;
const MEDIA_FORMATS = ['IMAGE', 'VIDEO', 'DOCUMENT'];
const HEADER_FORMATS = ['TEXT', 'LOCATION', ...MEDIA_FORMATS];
const TYPES = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'];
const BUTTON_TYPES = [
  'QUICK_REPLY',
  'URL',
  'PHONE_NUMBER',
  'COPY_CODE',
  'OTP',
  'CATALOG',
  'MPM',
  'FLOW',
  'VOICE_CALL',
  'ORDER_DETAILS',
  'SPM',
  'REQUEST_CONTACT_INFO',
  'CALL_PERMISSION_REQUEST',
];

export function checkTemplateComponents(
  components: JsonObject[],
  category: string,
  format: 'POSITIONAL' | 'NAMED',
): void {
  const types = components.map((component) => String(component['type']));
  const unknown = types.find((type) => !TYPES.includes(type));
  if (unknown !== undefined) throw invalid(`Unexpected component of type "${unknown}"`);
  if (!types.includes('BODY')) throw refused(2388043, 'The template needs a BODY component');
  if (new Set(types).size !== types.length) throw refused(2388043, 'A component is given twice');
  for (const component of components) {
    if (component['type'] === 'BODY') checkBody(component, category, format);
    if (component['type'] === 'HEADER') checkHeader(component, format);
    if (component['type'] === 'FOOTER') checkFooter(component, category);
    if (component['type'] === 'BUTTONS') checkButtons(component, category);
  }
}

function refused(subcode: number, user_msg: string): UpstreamError {
  return invalid('Invalid parameter', {
    subcode,
    user_title: 'The template is not valid',
    user_msg,
  });
}

function checkBody(component: JsonObject, category: string, format: string): void {
  // The platform provides the texts of authentication templates.
  if (category === 'AUTHENTICATION') return;
  const text = component['text'];
  if (typeof text !== 'string' || text === '') throw refused(2388043, 'The body has no text');
  if (text.length > BODY_MAX) throw refused(2388040, `The body exceeds ${BODY_MAX} characters`);
  const variables = variablesOf(text);
  if (variables.length === 0) return;
  if (/^\s*\{\{/.test(text) || /\}\}\s*$/.test(text)) {
    throw refused(2388299, 'Variables may not stand at the start or the end of the template');
  }
  checkVariables(variables, format);
  const example = isObject(component['example']) ? component['example'] : {};
  const given =
    format === 'NAMED' ? namedExamples(example['body_text_named_params']) : bodyExamples(example);
  if (given < variables.length) {
    throw refused(2388043, 'The body has variables without an example');
  }
}

function checkVariables(variables: string[], format: string): void {
  variables.forEach((name, index) => {
    const ok = format === 'NAMED' ? /^[a-z][a-z0-9_]*$/.test(name) : name === String(index + 1);
    if (!ok) throw refused(2388072, `The variable {{${name}}} does not fit the format ${format}`);
  });
}

function bodyExamples(example: JsonObject): number {
  const rows = example['body_text'];
  const first: unknown = Array.isArray(rows) ? rows[0] : undefined;
  return Array.isArray(first) ? first.length : 0;
}

function namedExamples(list: unknown): number {
  if (!Array.isArray(list)) return 0;
  return list.filter((item) => isObject(item) && item['param_name'] && item['example']).length;
}

function checkHeader(component: JsonObject, format: string): void {
  const kind = String(component['format'] ?? 'TEXT').toUpperCase();
  component['format'] = kind;
  if (!HEADER_FORMATS.includes(kind)) {
    throw refused(2388047, `The header format ${kind} does not exist`);
  }
  const example = isObject(component['example']) ? component['example'] : {};
  if (MEDIA_FORMATS.includes(kind)) {
    const handles = example['header_handle'];
    const [handle] = (Array.isArray(handles) ? handles : []) as unknown[];
    if (typeof handle !== 'string' || !handle.startsWith('4:')) {
      throw refused(2388273, 'The header needs a sample: example.header_handle with one handle');
    }
    return;
  }
  if (kind !== 'TEXT') return;
  const text = component['text'];
  if (typeof text !== 'string' || text === '' || text.length > HEADER_MAX) {
    throw refused(2388047, `The header text must have 1 to ${HEADER_MAX} characters`);
  }
  const variables = variablesOf(text);
  if (variables.length > 1) throw refused(2388072, 'The header may hold one variable');
  if (variables.length === 0) return;
  checkVariables(variables, format);
  const named = namedExamples(example['header_text_named_params']);
  const positional = Array.isArray(example['header_text']) ? example['header_text'].length : 0;
  if ((format === 'NAMED' ? named : positional) < 1) {
    throw refused(2388043, 'The header has a variable without an example');
  }
}

function checkFooter(component: JsonObject, category: string): void {
  if (category === 'AUTHENTICATION') return;
  const text = component['text'];
  if (typeof text !== 'string' || text === '' || text.length > FOOTER_MAX) {
    throw refused(2388073, `The footer text must have 1 to ${FOOTER_MAX} characters`);
  }
  if (variablesOf(text).length > 0) throw refused(2388073, 'The footer may hold no variable');
}

function checkButtons(component: JsonObject, category: string): void {
  const buttons = component['buttons'];
  if (!Array.isArray(buttons) || buttons.length === 0 || buttons.length > BUTTONS_MAX) {
    throw refused(2388043, `BUTTONS must hold 1 to ${BUTTONS_MAX} buttons`);
  }
  for (const button of buttons as unknown[]) {
    const type = isObject(button) ? String(button['type']).toUpperCase() : '';
    if (!isObject(button) || !BUTTON_TYPES.includes(type)) {
      throw invalid(`Unexpected button of type "${type}"`);
    }
    button['type'] = type;
    if (category === 'AUTHENTICATION' && type !== 'OTP') {
      throw refused(2388043, 'Authentication templates take OTP buttons only');
    }
    const text = button['text'];
    const named = type === 'OTP' || type === 'COPY_CODE';
    if (!named && (typeof text !== 'string' || text === '' || text.length > BUTTON_TEXT_MAX)) {
      throw refused(2388040, `A button text must have 1 to ${BUTTON_TEXT_MAX} characters`);
    }
    if (type === 'URL') checkUrlButton(button);
  }
}

function checkUrlButton(button: JsonObject): void {
  const url = button['url'];
  if (typeof url !== 'string' || !/^https?:\/\/\S+$/i.test(url)) {
    throw refused(2388043, 'A URL button needs a URL');
  }
  const example = button['example'];
  const given = typeof example === 'string' || (Array.isArray(example) && example.length > 0);
  if (variablesOf(url).length > 0 && !given) {
    throw refused(2388043, 'The URL of a button has a variable without an example');
  }
}
