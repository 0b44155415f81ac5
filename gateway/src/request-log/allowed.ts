// Which values of bodies the request log keeps: identifiers, enumerations, times and figures. A
// text stays only if its key and its form are listed; a value of any other key is a customer's,
// a secret, or not known. Pure.
import { isErrorCode } from '@bmg/common/errors';
import { endpoints } from '../endpoints';
import { knownValuesOf } from '../endpoints/parts/answers';
import type { Schema } from '../endpoints/parts/schema';

export interface Place {
  key: string;
  /** The key of the object around it; for the top of a body, the first word of the path. */
  parent: string;
}

/** Names of people, businesses and files have the same key. */
const OF_TEMPLATES = new Set(['template', 'templates']);
const TEMPLATE_NAME = /^[a-z0-9_]{1,100}$/;

/** `wa_id` and `user_id` are not among them: they are a person's. */
const IDS = new Set([
  ...['waba_id', 'waba_ids', 'phone_number_id', 'phone_number_ids', 'business_id', 'app_id'],
  ...['template_id', 'template_ids', 'media_id', 'flow_id', 'group_id', 'call_id'],
  ...['message_id', 'context_message_id', 'quoted_message_id', 'broadcast_id'],
  ...['event_id', 'event_ids', 'failed_event_id', 'endpoint_id', 'shadow_id', 'replay_id'],
  ...['key_id', 'person_id', 'partner_id', 'session_id', 'upstream_session_id'],
  ...['request_id', 'trace_id', 'upstream_trace_id'],
]);
/** The lists and objects whose `id` the platform gives; that of a button is the partner's text. */
const WITH_ID = new Set(['messages', 'media', 'flow', 'flows', 'group', 'groups', 'waba']);
const ID = /^[\w-]{1,64}$/;
/** IDs of messages and calls, which the upstream gives. */
const LONG_ID = /^(wamid|wacid)\.[\w=+/-]{1,200}$/;
/** Keys of this service and tokens of the upstream, typed into the wrong field. */
const SECRET = /^(bmgk|bmgc|whsec|EAA)/;
/** So many digits may be a phone number; IDs of the upstream have more. */
const PHONE = /^\d{7,14}$/;
const DIGITS = /\d{7}/;

const LANGUAGE = /^[a-z]{2}(_[A-Z]{2})?$/;
const LANGUAGES = new Set(['language', 'template_language']);
const CURRENCY = /^[A-Z]{3}$/;
const TIME = /^\d{4}-\d\d-\d\d(T[\d:.]{5,12}(Z|[+-]\d\d:?\d\d)?)?$/;
const TIMES = /(^|_)(at|since|until|from|to|start|end|day)$/;
/** The parts of a path to a field, such as `contacts[3].recipient`. */
const PARTS_OF_PATH = /[^.[\]]+/g;
const FIELD_MAX = 64;
const INDEX = /^\d{1,6}$/;
const HEADERS = ['x-waba-id', 'x-phone-number-id'];
const OF_ERRORS = new Set(['details', 'reasons', 'examples']);
const FIELDS = new Set(['field', 'fields', 'also']);

/** Kinds of the parts of messages and templates, which are passed to the upstream unchanged. */
const PARTS = [
  ...['header', 'body', 'button', 'buttons', 'footer', 'carousel', 'limited_time_offer'],
  ...['text', 'currency', 'date_time', 'payload', 'action', 'coupon_code', 'location', 'product'],
  ...['image', 'video', 'audio', 'document', 'sticker', 'contacts', 'reaction', 'interactive'],
  ...['quick_reply', 'url', 'copy_code', 'phone_number', 'otp', 'flow', 'catalog', 'mpm', 'reply'],
  ...['list', 'product_list', 'cta_url', 'catalog_message', 'location_request_message'],
];
const PART_KEYS = ['type', 'sub_type', 'format'];

/** A caller may send a secret or a place as a number. */
const NEVER_FIGURES = ['code', 'pin', 'latitude', 'longitude'];
const FIGURE_MAX = 10_000_000;
/** Positions, sizes and seconds since 1970, which have the digits of a phone number. */
const LARGE = /^(seq|after|next|newest|oldest|timestamp|start|end)$|_bytes$/;

interface Known {
  /** The values of enumerations, by key. */
  words: Map<string, Set<unknown>>;
  /** Keys whose values are numbers. */
  figures: Set<string>;
  /** The keys of all schemas. */
  keys: Set<string>;
}

const { words, figures, keys } = known();

function known(): Known {
  const parts = PARTS.flatMap((word) => [word, word.toUpperCase()]);
  const found: Known = {
    words: new Map(PART_KEYS.map((key) => [key, new Set(parts)])),
    figures: new Set(),
    keys: new Set(HEADERS),
  };
  for (const { query = {}, body = {}, answer = {} } of endpoints) {
    for (const schema of [query, body, answer]) collect(schema, '', found);
  }
  for (const key of NEVER_FIGURES) found.figures.delete(key);
  return found;
}

function collect(schema: Schema, key: string, found: Known): void {
  const { type = [], properties = {}, items, additionalProperties, published } = schema;
  const types = [type].flat();
  if (types.includes('integer') || types.includes('number')) found.figures.add(key);
  const values = [...(schema.enum ?? []), ...knownValuesOf(schema)];
  if (values.length > 0) {
    const all = found.words.get(key) ?? new Set();
    found.words.set(key, new Set([...all, ...values]));
  }
  for (const [name, of] of Object.entries(properties)) {
    found.keys.add(name);
    collect(of, name, found);
  }
  const inner = [items, published, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  for (const of of inner) if (of) collect(of, key, found);
  if (typeof additionalProperties === 'object') collect(additionalProperties, '', found);
}

/** True if the request log may show the text. */
export function showsText(text: string, { key, parent }: Place): boolean {
  if (words.get(key)?.has(text)) return true;
  if (IDS.has(key) || (key === 'id' && isWithId(parent))) return isId(text);
  if (key === 'code') return isErrorCode(text) || (parent === 'language' && LANGUAGE.test(text));
  if (LANGUAGES.has(key)) return LANGUAGE.test(text);
  if (key === 'currency') return CURRENCY.test(text);
  if (isTemplateName(key, parent)) return TEMPLATE_NAME.test(text) && !DIGITS.test(text);
  if (FIELDS.has(key) && OF_ERRORS.has(parent)) return isField(text);
  return TIMES.test(key) && TIME.test(text);
}

const isWithId = (parent: string): boolean => WITH_ID.has(parent) || OF_TEMPLATES.has(parent);

/** True if a text has the form of an ID, and not that of a phone number or a secret. */
export const isId = (text: string): boolean =>
  LONG_ID.test(text) || (ID.test(text) && !PHONE.test(text) && !SECRET.test(text));

/** Errors name fields by their path; a caller may have chosen a part of it. */
const isField = (text: string): boolean =>
  text.length <= FIELD_MAX &&
  (text.match(PARTS_OF_PATH) ?? []).every((part) => keys.has(part) || INDEX.test(part));

const isTemplateName = (key: string, parent: string): boolean =>
  key === 'template_name' ||
  key === 'library_template_name' ||
  (key === 'name' && OF_TEMPLATES.has(parent));

/** True if the request log may show the number. */
export const showsNumber = (value: number, key: string): boolean =>
  figures.has(key) && (Math.abs(value) < FIGURE_MAX || LARGE.test(key));

const KEY = /^[A-Za-z_][\w.-]{0,47}$/;

/** True if the request log may show the key: callers choose the ones that are ignored. */
export const showsKey = (key: string): boolean =>
  KEY.test(key) && !DIGITS.test(key) && !SECRET.test(key);

/** The paths of ignored keys, as the answer's header has them. */
export const shownPaths = (paths: string): string =>
  paths
    .split(', ')
    .map((path) => (DIGITS.test(path) || SECRET.test(path) ? '…' : path))
    .join(', ');
