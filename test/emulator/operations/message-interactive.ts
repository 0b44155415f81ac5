// Checks interactive messages: the required parts of each kind, their lengths and counts.
import { upstreamError } from '../errors';
import type { JsonObject } from '../types';
import { checkTexts, isObject, messageText } from './parameters';

const BODY_MAX = 1024;
const LIST_BODY_MAX = 4096;
const FOOTER_MAX = 60;
const HEADER_MAX = 60;
const BUTTONS_MAX = 3;
const SECTIONS_MAX = 10;
/** In all sections together. */
const ROWS_MAX = 10;
const PRODUCTS_MAX = 30;
const CARDS_MIN = 2;
const CARDS_MAX = 10;

const ACTION = 'interactive.action';
const SECTIONS = `${ACTION}.sections`;

type MediaChecker = (type: string, media: JsonObject) => void;

interface Rules {
  /** `name` of the action, if it has one. */
  name?: string;
  /** Required texts of the action with their maximum lengths. */
  texts?: Readonly<Record<string, number>>;
  action?: (action: JsonObject) => void;
  body_optional?: boolean;
  body_max?: number;
  headers?: readonly string[];
  header_required?: boolean;
}

const MEDIA_HEADERS = ['text', 'image', 'video', 'document'];
const ID_MAX = 200;

const RULES: Readonly<Record<string, Rules>> = {
  button: { action: checkButtons },
  list: { texts: { button: 20 }, action: checkList, body_max: LIST_BODY_MAX, headers: ['text'] },
  cta_url: {
    name: 'cta_url',
    texts: { 'parameters.display_text': 20, 'parameters.url': 2000 },
    action: checkUrl,
  },
  product: {
    texts: { catalog_id: ID_MAX, product_retailer_id: ID_MAX },
    body_optional: true,
    headers: [],
  },
  product_list: {
    texts: { catalog_id: ID_MAX },
    action: checkProducts,
    headers: ['text'],
    header_required: true,
  },
  catalog_message: { name: 'catalog_message', headers: [] },
  flow: {
    name: 'flow',
    texts: { 'parameters.flow_message_version': 8, 'parameters.flow_cta': 30 },
    action: checkFlow,
  },
  location_request_message: { name: 'send_location', headers: [] },
  address_message: { name: 'address_message' },
  call_permission_request: { name: 'call_permission_request', body_optional: true },
  voice_call: { name: 'voice_call' },
  request_contact_info: { name: 'request_contact_info' },
  carousel: {
    action: ({ cards }) => void arrayOf(cards, `${ACTION}.cards`, CARDS_MAX, CARDS_MIN),
    headers: [],
  },
  order_details: {},
  order_status: {},
};

export function checkInteractive(content: JsonObject, media: MediaChecker): void {
  const type = messageText(content['type'], 'interactive.type', 64) as string;
  const rules = RULES[type];
  if (!rules) throw upstreamError(131009, `interactive.type "${type}" is not supported`);
  const { action, body, footer } = content;
  if (!isObject(action)) throw missing(ACTION);
  if (body !== undefined || !rules.body_optional) {
    checkTexts(body, 'interactive.body', { text: rules.body_max ?? BODY_MAX });
  }
  checkHeader(content['header'], rules, media);
  if (footer !== undefined) checkTexts(footer, 'interactive.footer', { text: FOOTER_MAX });
  if (rules.name && action['name'] === undefined) throw missing(`${ACTION}.name`);
  if (rules.name && action['name'] !== rules.name) {
    throw upstreamError(131009, `${ACTION}.name must be ${rules.name}`);
  }
  checkTexts(action, ACTION, rules.texts ?? {});
  rules.action?.(action);
}

const missing = (name: string) => upstreamError(131008, `The parameter ${name} is required.`);

function checkHeader(header: unknown, rules: Rules, media: MediaChecker): void {
  if (header === undefined) {
    if (rules.header_required) throw missing('interactive.header');
    return;
  }
  const type = isObject(header) ? String(header['type']) : '';
  if (!isObject(header) || !(rules.headers ?? MEDIA_HEADERS).includes(type)) {
    throw upstreamError(131009, `interactive.header.type "${type}" is not allowed here`);
  }
  if (type === 'text') {
    checkTexts(header, 'interactive.header', { text: HEADER_MAX });
    return;
  }
  const content = header[type];
  if (!isObject(content)) throw missing(`interactive.header.${type}`);
  media(type, content);
}

function checkButtons(action: JsonObject): void {
  const name = `${ACTION}.buttons`;
  const buttons = arrayOf(action['buttons'], name, BUTTONS_MAX);
  for (const button of buttons) {
    checkTexts(button, name, { 'reply.id': 256, 'reply.title': 20 });
    if (button['type'] !== 'reply') throw upstreamError(131009, `${name}.type must be reply`);
  }
  requireUnique(buttons.map(({ reply }) => (reply as JsonObject)['id']));
}

function checkList(action: JsonObject): void {
  const { sections, items } = sectionsOf(action, 'rows', ROWS_MAX);
  for (const section of sections) {
    checkTexts(section, SECTIONS, { [sections.length === 1 ? 'title?' : 'title']: 24 });
  }
  const row = { id: 200, title: 24, 'description?': 72 };
  for (const item of items) checkTexts(item, `${SECTIONS}.rows`, row);
  requireUnique(items.map(({ id }) => id));
}

function checkProducts(action: JsonObject): void {
  const { items } = sectionsOf(action, 'product_items', PRODUCTS_MAX);
  const product = { product_retailer_id: ID_MAX };
  for (const item of items) checkTexts(item, `${SECTIONS}.product_items`, product);
}

/** The sections of an action, and their items, which are limited in all sections together. */
function sectionsOf({ sections: given }: JsonObject, key: string, items_max: number) {
  const sections = arrayOf(given, SECTIONS, SECTIONS_MAX);
  const name = `${SECTIONS}.${key}`;
  const items = sections.flatMap((section) => arrayOf(section[key], name, items_max));
  if (items.length > items_max) {
    throw upstreamError(131009, `Total count of ${key} exceeds the maximum of ${items_max}`);
  }
  return { sections, items };
}

function checkUrl({ parameters }: JsonObject): void {
  if (!/^https?:\/\/\S+$/i.test(String((parameters as JsonObject)['url']))) {
    throw upstreamError(131009, `${ACTION}.parameters.url is not a valid URL`);
  }
}

function checkFlow({ parameters }: JsonObject): void {
  const { flow_id, flow_name } = parameters as JsonObject;
  if (flow_id === undefined && flow_name === undefined) throw missing('flow_id or flow_name');
}

function requireUnique(ids: unknown[]): void {
  if (new Set(ids).size !== ids.length) throw upstreamError(131009, 'IDs must be unique');
}

function arrayOf(value: unknown, name: string, max: number, min = 1): JsonObject[] {
  if (value === undefined) throw missing(name);
  if (!Array.isArray(value) || value.length < min || value.length > max || !value.every(isObject)) {
    throw upstreamError(131009, `${name} must hold ${min} to ${max} elements`);
  }
  return value;
}
