// Checks a new template: its parts, their lengths, and an example for every variable.
import { invalid, type UpstreamError } from '../errors';
import type { JsonObject } from '../types';
import { variablesOf } from './message-template';
import { isObject } from './parameters';
import { words } from '../../testkit/words';

const TYPES = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'];
const MEDIA_FORMATS = ['IMAGE', 'VIDEO', 'DOCUMENT'];
const HEADER_FORMATS = ['TEXT', 'LOCATION', ...MEDIA_FORMATS];
const BUTTON_TYPES = words(`
  QUICK_REPLY URL PHONE_NUMBER COPY_CODE OTP CATALOG MPM FLOW VOICE_CALL ORDER_DETAILS SPM
  REQUEST_CONTACT_INFO CALL_PERMISSION_REQUEST
`);
const BUTTONS_MAX = 10;
const BUTTON_TEXT_MAX = 25;

interface TextRules {
  length_max: number;
  variables_max: number;
  /** The subcode of a bad text, and of too many variables. */
  subcode: readonly [text: number, variables: number];
}
const TEXTS: Readonly<Record<string, TextRules>> = {
  HEADER: { length_max: 60, variables_max: 1, subcode: [2388047, 2388072] },
  BODY: { length_max: 1024, variables_max: Infinity, subcode: [2388040, 2388072] },
  FOOTER: { length_max: 60, variables_max: 0, subcode: [2388073, 2388073] },
};

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
    const { type } = component;
    if (type === 'BUTTONS') checkButtons(component, category);
    else if (type === 'HEADER') checkHeader(component, format);
    // The platform provides the other texts of authentication templates.
    else if (category !== 'AUTHENTICATION') checkText(component, format);
  }
}

function refused(subcode: number, user_msg: string): UpstreamError {
  return invalid('Invalid parameter', {
    subcode,
    user_title: 'The template is not valid',
    user_msg,
  });
}

const exampleOf = ({ example }: JsonObject): JsonObject => (isObject(example) ? example : {});

function checkHeader(component: JsonObject, format: 'POSITIONAL' | 'NAMED'): void {
  const kind = String(component['format'] ?? 'TEXT').toUpperCase();
  component['format'] = kind;
  if (!HEADER_FORMATS.includes(kind)) {
    throw refused(2388047, `The header format ${kind} does not exist`);
  }
  if (kind === 'TEXT') checkText(component, format);
  if (!MEDIA_FORMATS.includes(kind)) return;
  const handles = exampleOf(component)['header_handle'];
  const [handle] = (Array.isArray(handles) ? handles : []) as unknown[];
  if (typeof handle !== 'string' || !handle.startsWith('4:')) {
    throw refused(2388273, 'The header needs a sample: example.header_handle with one handle');
  }
}

/** Checks the text of a header, body or footer, and that its variables have examples. */
function checkText(component: JsonObject, format: 'POSITIONAL' | 'NAMED'): void {
  const type = String(component['type']);
  const rules = TEXTS[type];
  if (!rules) return;
  const { length_max, variables_max, subcode } = rules;
  const { text } = component;
  if (typeof text !== 'string' || text === '' || text.length > length_max) {
    throw refused(subcode[0], `The text of ${type} must have 1 to ${length_max} characters`);
  }
  const variables = variablesOf(text);
  if (variables.length > variables_max) {
    throw refused(subcode[1], `${type} may hold ${variables_max} variables`);
  }
  variables.forEach((name, index) => {
    const ok = format === 'NAMED' ? /^[a-z][a-z0-9_]*$/.test(name) : name === String(index + 1);
    if (!ok) throw refused(2388072, `The variable {{${name}}} does not fit the format ${format}`);
  });
  if (type === 'BODY' && /^\s*\{\{|\}\}\s*$/.test(text)) {
    throw refused(2388299, 'Variables may not stand at the start or the end of the template');
  }
  if (variables.length > examplesOf(component, type, format)) {
    throw refused(2388043, `${type} has variables without an example`);
  }
}

function examplesOf(component: JsonObject, type: string, format: 'POSITIONAL' | 'NAMED'): number {
  const name = `${type.toLowerCase()}_text${format === 'NAMED' ? '_named_params' : ''}`;
  const examples: unknown = exampleOf(component)[name];
  if (!Array.isArray(examples)) return 0;
  if (format === 'NAMED') {
    return examples.filter((one) => isObject(one) && one['param_name'] && one['example']).length;
  }
  // Those of a body are a list of rows.
  if (type !== 'BODY') return examples.length;
  return Array.isArray(examples[0]) ? examples[0].length : 0;
}

function checkButtons({ buttons }: JsonObject, category: string): void {
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
    const { text } = button;
    const has_text = typeof text === 'string' && text !== '' && text.length <= BUTTON_TEXT_MAX;
    if (!has_text && type !== 'OTP' && type !== 'COPY_CODE') {
      throw refused(2388040, `A button text must have 1 to ${BUTTON_TEXT_MAX} characters`);
    }
    if (type === 'URL') checkUrlButton(button);
  }
}

function checkUrlButton({ url, example }: JsonObject): void {
  if (typeof url !== 'string' || !/^https?:\/\/\S+$/i.test(url)) {
    throw refused(2388043, 'A URL button needs a URL');
  }
  const given = typeof example === 'string' || (Array.isArray(example) && example.length > 0);
  if (variablesOf(url).length > 0 && !given) {
    throw refused(2388043, 'The URL of a button has a variable without an example');
  }
}
