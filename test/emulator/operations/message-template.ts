// Checks a template send: the template exists and may be sent, and the parameters fit it.
import { invalidParameter, upstreamError } from '../errors';
import type { Account, JsonObject, Template } from '../types';
import type { Recipient } from './message-recipient';
import { isObject, messageText } from './parameters';

const BODY_MAX = 1024;
const HEADER_TEXT_MAX = 60;
const MEDIA_FORMATS = ['IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'];

export function checkTemplate(account: Account, value: unknown, recipient: Recipient): Template {
  if (value === undefined) {
    throw upstreamError(131008, 'The parameter template is required for type template.');
  }
  if (!isObject(value)) throw invalidParameter('Param template must be a JSON object.');
  const name = messageText(value['name'], 'template.name', 512) as string;
  const { language } = value;
  if (language === undefined) {
    throw upstreamError(131008, 'The parameter template.language is required.');
  }
  if (!isObject(language)) {
    throw invalidParameter('Param template[language] must be a JSON object.');
  }
  const code = messageText(language['code'], 'template.language.code', 16) as string;
  const template = find(account, name, code);
  if (template.category === 'AUTHENTICATION' && recipient.user_id !== null && hasOtp(template)) {
    throw upstreamError(131062, 'Authentication templates need a phone number');
  }
  const components = value['components'] ?? [];
  if (!Array.isArray(components)) throw invalidParameter('template.components must be an array');
  checkComponents(template, template.components, components as unknown[]);
  return template;
}

function find(account: Account, name: string, language: string): Template {
  for (const template of account.templates.values()) {
    if (template.name !== name || template.language !== language) continue;
    if (template.status === 'PAUSED') throw upstreamError(132015, `${name} is paused`);
    if (template.status === 'DISABLED') throw upstreamError(132016, `${name} is disabled`);
    if (template.status === 'APPROVED') return template;
  }
  throw upstreamError(132001, `template name (${name}) does not exist in ${language}`);
}

function hasOtp(template: Template): boolean {
  return buttonsOf(template.components).some((button) => button['type'] === 'OTP');
}

function buttonsOf(components: JsonObject[]): JsonObject[] {
  const component = components.find(({ type }) => type === 'BUTTONS');
  return Array.isArray(component?.['buttons']) ? (component['buttons'] as JsonObject[]) : [];
}

/** `components`: those of the template, or of a card of its carousel. */
function checkComponents(template: Template, components: JsonObject[], sent: unknown[]): void {
  const by_type = new Map<string, JsonObject>();
  const buttons = new Map<number, JsonObject>();
  for (const component of sent) {
    const type = isObject(component) ? String(component['type']).toLowerCase() : '';
    if (!isObject(component) || type === '') {
      throw invalidParameter('template.components[].type is required');
    }
    if (type === 'button') buttons.set(Number(component['index'] ?? 0), component);
    else by_type.set(type, component);
  }
  for (const component of components) {
    const type = String(component['type']);
    if (type === 'BODY') checkText(template, component, by_type.get('body'), 'body', BODY_MAX);
    if (type === 'HEADER') checkHeader(template, component, by_type.get('header'));
    if (type === 'CAROUSEL') checkCards(template, component, by_type.get('carousel'));
  }
  checkButtons(components, buttons);
}

function checkCards(template: Template, component: JsonObject, sent: JsonObject | undefined): void {
  const wanted = itemsOf(component['cards']);
  const given = itemsOf(sent?.['cards']);
  if (given.length !== wanted.length) {
    throw upstreamError(
      132000,
      `carousel: number of cards (${given.length}) does not match the expected number (${wanted.length})`,
    );
  }
  wanted.forEach((card, index) => {
    const filled = given.find(({ card_index }) => Number(card_index) === index);
    if (!filled) throw upstreamError(131008, `carousel: there is no card with card_index ${index}`);
    checkComponents(template, itemsOf(card['components']), itemsOf(filled['components']));
  });
}

const itemsOf = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : []);

function checkHeader(
  template: Template,
  component: JsonObject,
  sent: JsonObject | undefined,
): void {
  const format = String(component['format'] ?? 'TEXT');
  if (!MEDIA_FORMATS.includes(format)) {
    checkText(template, component, sent, 'header', HEADER_TEXT_MAX);
    return;
  }
  const [parameter] = parametersOf(sent);
  const type = parameter?.['type'];
  if (type !== format.toLowerCase()) {
    throw upstreamError(
      132012,
      `header: Format mismatch, expected ${format}, received ${String(type ?? 'UNKNOWN').toUpperCase()}`,
    );
  }
  const media = parameter?.[format.toLowerCase()];
  if (format === 'LOCATION') return;
  if (!isObject(media) || (media['id'] === undefined) === (media['link'] === undefined)) {
    throw upstreamError(131008, `header: exactly one of id and link is required`);
  }
}

function checkText(
  template: Template,
  component: JsonObject,
  sent: JsonObject | undefined,
  where: string,
  length_max: number,
): void {
  const text = String(component['text'] ?? '');
  const wanted = variablesOf(text);
  const given = parametersOf(sent);
  if (given.length !== wanted.length) {
    throw upstreamError(
      132000,
      `${where}: number of localizable_params (${given.length}) does not match the expected number of params (${wanted.length})`,
    );
  }
  let filled = text;
  given.forEach((parameter, index) => {
    const name =
      template.parameter_format === 'NAMED' ? parameter['parameter_name'] : wanted[index];
    if (typeof name !== 'string' || !wanted.includes(name)) {
      throw upstreamError(132012, `${where}: parameter name is missing or unknown`);
    }
    filled = filled.replace(`{{${name}}}`, () => textOf(parameter, where));
  });
  if (filled.length > length_max) {
    throw upstreamError(132005, `${where}: the text with its parameters is too long`);
  }
}

export function variablesOf(text: string): string[] {
  const names = [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map((match) => match[1] as string);
  return [...new Set(names)];
}

function parametersOf(component: JsonObject | undefined): JsonObject[] {
  const parameters = component?.['parameters'] ?? [];
  if (!Array.isArray(parameters) || !parameters.every(isObject)) {
    throw invalidParameter('template.components[].parameters must be an array of objects');
  }
  return parameters;
}

function textOf(parameter: JsonObject, where: string): string {
  const type = parameter['type'];
  if (type === 'text') {
    const text = messageText(parameter['text'], `${where}.parameters.text`, 32_768) as string;
    if (/[\n\r\t]| {5}/.test(text)) {
      throw invalidParameter(
        'Param text cannot have new-line/tab characters or more than 4 consecutive spaces',
      );
    }
    return text;
  }
  const content = typeof type === 'string' ? parameter[type] : undefined;
  const fallback = isObject(content) ? content['fallback_value'] : undefined;
  if ((type !== 'currency' && type !== 'date_time') || typeof fallback !== 'string') {
    throw upstreamError(132012, `${where}: a parameter of type ${String(type)} does not fit here`);
  }
  return fallback;
}

/** A button with a variable part needs its own component in the request. */
function checkButtons(components: JsonObject[], sent: Map<number, JsonObject>): void {
  const buttons = buttonsOf(components);
  for (const index of sent.keys()) {
    if (!buttons[index]) throw upstreamError(132000, `button ${index} does not exist`);
  }
  buttons.forEach((button, index) => {
    const type = String(button['type']);
    const variable = type === 'URL' && variablesOf(String(button['url'] ?? '')).length > 0;
    if (!variable && type !== 'OTP' && type !== 'COPY_CODE') return;
    const component = sent.get(index);
    if (!component || parametersOf(component).length === 0) {
      throw upstreamError(131008, `button: ${type} button at index ${index} requires a parameter`);
    }
    const sub_type = type === 'COPY_CODE' ? 'copy_code' : 'url';
    if (String(component['sub_type']).toLowerCase() !== sub_type) {
      throw upstreamError(132012, `button at index ${index} must have sub_type ${sub_type}`);
    }
  });
}
