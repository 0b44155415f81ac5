// Checks interactive messages: the required parts of each kind, their lengths and counts.
import { upstreamError } from '../errors';
import type { JsonObject } from '../types';
import { isObject, messageText } from './parameters';

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

type MediaChecker = (type: string, media: JsonObject) => void;
type ActionChecker = (action: JsonObject, media: MediaChecker) => void;

interface Rules {
  action: ActionChecker;
  body?: 'required' | 'optional' | 'none';
  body_max?: number;
  headers?: readonly string[];
  header_required?: boolean;
}

const MEDIA_HEADERS = ['text', 'image', 'video', 'document'];

const RULES: Readonly<Record<string, Rules>> = {
  button: { action: checkButtons, headers: MEDIA_HEADERS },
  list: { action: checkList, body_max: LIST_BODY_MAX, headers: ['text'] },
  cta_url: { action: checkCtaUrl, headers: MEDIA_HEADERS },
  product: { action: checkProduct, body: 'optional', headers: [] },
  product_list: { action: checkProductList, headers: ['text'], header_required: true },
  catalog_message: { action: named('catalog_message'), headers: [] },
  flow: { action: checkFlow, headers: MEDIA_HEADERS },
  location_request_message: { action: named('send_location'), headers: [] },
  address_message: { action: named('address_message') },
  call_permission_request: { action: named('call_permission_request'), body: 'optional' },
  voice_call: { action: named('voice_call') },
  request_contact_info: { action: named('request_contact_info') },
  carousel: { action: checkCarousel, headers: [] },
  order_details: { action: () => undefined },
  order_status: { action: () => undefined },
};

export function checkInteractive(content: JsonObject, media: MediaChecker): void {
  const type = messageText(content['type'], 'interactive.type', 64) as string;
  const rules = RULES[type];
  if (!rules) throw upstreamError(131009, `interactive.type "${type}" is not supported`);
  const action = content['action'];
  if (!isObject(action))
    throw upstreamError(131008, 'The parameter interactive.action is required.');
  checkBody(content['body'], rules);
  checkHeader(content['header'], rules, media);
  const footer = content['footer'];
  if (footer !== undefined) {
    messageText(isObject(footer) ? footer['text'] : footer, 'interactive.footer.text', FOOTER_MAX);
  }
  rules.action(action, media);
}

function checkBody(body: unknown, rules: Rules): void {
  if (body === undefined && rules.body === 'optional') return;
  const text = isObject(body) ? body['text'] : undefined;
  messageText(text, 'interactive.body.text', rules.body_max ?? BODY_MAX);
}

function checkHeader(header: unknown, rules: Rules, media: MediaChecker): void {
  if (header === undefined) {
    if (rules.header_required) {
      throw upstreamError(131008, 'The parameter interactive.header is required.');
    }
    return;
  }
  if (!isObject(header)) throw upstreamError(131009, 'interactive.header must be an object');
  const type = header['type'];
  if (typeof type !== 'string' || !(rules.headers ?? MEDIA_HEADERS).includes(type)) {
    throw upstreamError(131009, `interactive.header.type "${String(type)}" is not allowed here`);
  }
  if (type === 'text') {
    messageText(header['text'], 'interactive.header.text', HEADER_MAX);
    return;
  }
  const content = header[type];
  if (!isObject(content)) {
    throw upstreamError(131008, `The parameter interactive.header.${type} is required.`);
  }
  media(type, content);
}

function checkButtons(action: JsonObject): void {
  const buttons = arrayOf(action['buttons'], 'interactive.action.buttons', 1, BUTTONS_MAX);
  const ids = new Set<string>();
  for (const button of buttons) {
    const reply = isObject(button) ? button['reply'] : undefined;
    if (!isObject(button) || button['type'] !== 'reply' || !isObject(reply)) {
      throw upstreamError(131009, 'Each button must be {type: reply, reply: {id, title}}');
    }
    const id = messageText(reply['id'], 'interactive.action.buttons.reply.id', 256) as string;
    messageText(reply['title'], 'interactive.action.buttons.reply.title', 20);
    if (ids.has(id)) throw upstreamError(131009, 'Button ids must be unique');
    ids.add(id);
  }
}

function checkList(action: JsonObject): void {
  messageText(action['button'], 'interactive.action.button', 20);
  const sections = arrayOf(action['sections'], 'interactive.action.sections', 1, SECTIONS_MAX);
  let count = 0;
  const ids = new Set<string>();
  for (const section of sections) {
    const part = isObject(section) ? section : {};
    messageText(part['title'], 'interactive.action.sections.title', 24, sections.length === 1);
    for (const row of arrayOf(part['rows'], 'interactive.action.sections.rows', 1, ROWS_MAX)) {
      ids.add(checkRow(isObject(row) ? row : {}));
      count += 1;
    }
  }
  if (count > ROWS_MAX) {
    throw upstreamError(131009, `Total row count exceeds the maximum of ${ROWS_MAX}`);
  }
  if (ids.size !== count) throw upstreamError(131009, 'Row ids must be unique');
}

function checkRow(row: JsonObject): string {
  messageText(row['title'], 'interactive.action.sections.rows.title', 24);
  messageText(row['description'], 'interactive.action.sections.rows.description', 72, true);
  return messageText(row['id'], 'interactive.action.sections.rows.id', 200) as string;
}

function checkCtaUrl(action: JsonObject): void {
  named('cta_url')(action, () => undefined);
  const parameters = isObject(action['parameters']) ? action['parameters'] : {};
  messageText(parameters['display_text'], 'interactive.action.parameters.display_text', 20);
  const url = messageText(parameters['url'], 'interactive.action.parameters.url', 2000) as string;
  if (!/^https?:\/\/\S+$/i.test(url)) {
    throw upstreamError(131009, 'interactive.action.parameters.url is not a valid URL');
  }
}

function checkProduct(action: JsonObject): void {
  messageText(action['catalog_id'], 'interactive.action.catalog_id', 200);
  messageText(action['product_retailer_id'], 'interactive.action.product_retailer_id', 200);
}

function checkProductList(action: JsonObject): void {
  messageText(action['catalog_id'], 'interactive.action.catalog_id', 200);
  const sections = arrayOf(action['sections'], 'interactive.action.sections', 1, SECTIONS_MAX);
  let count = 0;
  for (const section of sections) {
    const items = isObject(section) ? section['product_items'] : undefined;
    const name = 'interactive.action.sections.product_items';
    for (const item of arrayOf(items, name, 1, PRODUCTS_MAX)) {
      const id = isObject(item) ? item['product_retailer_id'] : undefined;
      messageText(id, `${name}.product_retailer_id`, 200);
      count += 1;
    }
  }
  if (count > PRODUCTS_MAX) {
    throw upstreamError(131009, `Total product count exceeds the maximum of ${PRODUCTS_MAX}`);
  }
}

function checkFlow(action: JsonObject): void {
  named('flow')(action, () => undefined);
  const parameters = isObject(action['parameters']) ? action['parameters'] : {};
  messageText(parameters['flow_message_version'], 'flow_message_version', 8);
  messageText(parameters['flow_cta'], 'flow_cta', 30);
  if (parameters['flow_id'] === undefined && parameters['flow_name'] === undefined) {
    throw upstreamError(131008, 'One of flow_id and flow_name is required.');
  }
}

function checkCarousel(action: JsonObject): void {
  arrayOf(action['cards'], 'interactive.action.cards', CARDS_MIN, CARDS_MAX);
}

function named(name: string): ActionChecker {
  return (action) => {
    if (action['name'] === undefined) {
      throw upstreamError(131008, 'The parameter interactive.action.name is required.');
    }
    if (action['name'] !== name) {
      throw upstreamError(131009, `interactive.action.name must be ${name}`);
    }
  };
}

function arrayOf(value: unknown, name: string, min: number, max: number): unknown[] {
  if (value === undefined) throw upstreamError(131008, `The parameter ${name} is required.`);
  if (!Array.isArray(value) || value.length < min || value.length > max) {
    throw upstreamError(131009, `${name} must hold ${min} to ${max} elements`);
  }
  return value as unknown[];
}
