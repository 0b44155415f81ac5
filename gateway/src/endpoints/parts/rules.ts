// Rules between fields as the OpenAPI document states them. The services enforce them, with clearer
// messages than a schema gives.
import { mimeTypePattern } from '@bmg/common/files';
import { BSUID_PATTERN, PARENT_BSUID_PATTERN, PHONE_PATTERN } from '@bmg/common/ids';
import type { Properties, Schema } from './schema';

export const FILLED: Schema = { type: 'string', pattern: '\\S' };
const BLANK: Schema = { type: 'string', pattern: '^ *$' };
const QUOTE_MAX = 512;
/** Values of one contact of a broadcast. */
const PARAMS_MAX = 100;
const BSUID: Schema = { type: 'string', pattern: `^ *${BSUID_PATTERN} *$` };
const PERSON = `(?:${BSUID_PATTERN}|${PHONE_PATTERN})`;

/** Any value, for generators of clients, which take a schema without a type for a mistake. */
export const ANY: Schema = {
  type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
  items: {},
};

/** Linters want every required key among the properties. */
const present = (key: string): Schema => ({ properties: { [key]: ANY }, required: [key] });

export const atLeastOne = (keys: readonly string[]): Schema => ({ anyOf: keys.map(present) });

/** An object with these properties. */
const hasAll = (properties: Properties): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

const named = (properties: Properties, required: string): Schema => ({
  properties,
  required: [required],
});

/**
 * A phone number or BSUID in `to` wins over a BSUID in `user_id`, and that over one in `recipient`.
 */
export const recipient: Schema = {
  anyOf: [
    named({ to: { type: 'string', pattern: `^ *${PERSON} *$` } }, 'to'),
    named({ to: BLANK, user_id: BSUID }, 'user_id'),
    named({ to: BLANK, user_id: BLANK, recipient: BSUID }, 'recipient'),
  ],
};

const NULL: Schema = { type: 'null' };
/** Either `id` or `link`. */
export const mediaSource: Schema = {
  oneOf: [named({ id: FILLED, link: NULL }, 'id'), named({ link: FILLED, id: NULL }, 'link')],
};

const when = (key: string, value: string, then: Schema): Schema => ({
  if: named({ [key]: { const: value } }, key),
  then,
});

/** An image has no file name. */
export const imageMedia: Schema = {
  not: hasAll({ type: { const: 'image' }, media: hasAll({ filename: ANY }) }),
};

/** Contract 6.3: reply buttons and the rows of a list's section. */
const BUTTONS_MAX = 3;
const ROWS_MAX = 10;

const longerThan = (maximum: number): Schema => ({
  type: 'array',
  items: ANY,
  minItems: maximum + 1,
});
const noAction = (type: string, action: Record<string, Schema>): Schema => ({
  not: hasAll({ type: { const: type }, action: hasAll(action) }),
});

export const interactive: Schema[] = [
  noAction('button', { buttons: longerThan(BUTTONS_MAX) }),
  noAction('list', {
    sections: { type: 'array', items: ANY, contains: hasAll({ rows: longerThan(ROWS_MAX) }) },
  }),
];

const QUOTE: Schema = { maxLength: QUOTE_MAX, ...FILLED };
/** `context` wins over `context_message_id`, and that over `reply_to`: only the winner is read. */
export const quoted: Schema = {
  anyOf: [
    named({ context: { type: 'object' } }, 'context'),
    named({ context: NULL, context_message_id: QUOTE }, 'context_message_id'),
    {
      properties: {
        context: NULL,
        context_message_id: NULL,
        reply_to: { ...QUOTE, type: ['string', 'null'] },
      },
    },
  ],
};

const PORT =
  '(?::(?:0|[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5]))?';
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
/**
 * A name whose last label starts with a letter, as all names of the internet, or an IPv4 address.
 */
function hostOf(letter: string, digit: string): string {
  const end = `(?:[${letter}${digit}-]{0,61}[${letter}${digit}])?`;
  return `(?:(?:[${letter}${digit}]${end}\\.)*[${letter}]${end}|(?:${OCTET}\\.){3}${OCTET})`;
}
const ORIGIN_HOST = hostOf('a-z', '0-9');

/** Browsers write it in lower case, without the default port. */
export const origin: Schema = {
  pattern: `^(?:http://${ORIGIN_HOST}(?!:80$)|https://${ORIGIN_HOST}(?!:443$))${PORT}$`,
};

export const fileUrl: Schema = {
  pattern: `^https://${hostOf('A-Za-z', '0-9_')}${PORT}(?:[/?#][^\\\\\\u0000-\\u001f\\u007f]*)?$`,
};
export const fileType = (types: readonly string[]): Schema => ({ pattern: mimeTypePattern(types) });

/** Parent BSUIDs cannot be blocked. */
export const blocked: Schema = {
  ...FILLED,
  not: { pattern: `^\\s*${PARENT_BSUID_PATTERN}\\s*$` },
};

/** Keys and values of a contact's `params`. */
export const params: Schema = {
  propertyNames: { pattern: '^(?:[1-9][0-9]{0,2}|[A-Za-z][A-Za-z0-9_.-]{0,63})$' },
  maxProperties: PARAMS_MAX,
  maxItems: PARAMS_MAX,
};
/** A text that is not blank, a number, or a whole parameter of the upstream. */
export const param: Schema = {
  type: ['string', 'number', 'boolean', 'object'],
  pattern: '\\S',
  properties: { type: { type: 'string', mayBeBlank: true } },
  required: ['type'],
};

export const person: Schema = { pattern: `^${PERSON}$` };
export const phone: Schema = { pattern: `^${PHONE_PATTERN}$` };
/** A contact of a broadcast: a blank one is skipped. */
export const contact: Schema = { pattern: `^ *${PERSON}? *$` };
export const contactBsuid: Schema = { pattern: `^ *(?:${BSUID_PATTERN})? *$` };

/** A text, or an object as the upstream returns it. */
export const participant: Schema = {
  anyOf: [
    FILLED,
    {
      type: 'object',
      title: 'GroupParticipant',
      properties: { user: ANY, wa_id: ANY, user_id: ANY },
      allOf: [{ anyOf: ['user', 'wa_id', 'user_id'].map((key) => named({ [key]: FILLED }, key)) }],
    },
  ],
};

export const call: Schema[] = [
  when('action', 'connect', {
    anyOf: [named({ to: FILLED }, 'to'), named({ recipient: FILLED }, 'recipient')],
  }),
  when('action', 'terminate', named({ call_id: FILLED }, 'call_id')),
];

/** Either a period or ids. */
export const replayed: Schema[] = [
  { oneOf: [present('from'), present('event_ids')] },
  {
    not: {
      properties: {
        to: { type: 'string' },
        event_ids: { type: 'array', items: { type: 'string' } },
      },
      required: ['to', 'event_ids'],
    },
  },
];

/** Neither null, nor blank, nor an empty array. */
const GIVEN: Schema = {
  ...ANY,
  not: {
    anyOf: [
      NULL,
      { type: 'string', pattern: '^\\s*$' },
      { type: 'array', items: ANY, maxItems: 0 },
    ],
  },
};

export const checked: Schema = {
  anyOf: [
    present('kind'),
    named({ template_name: GIVEN }, 'template_name'),
    named({ contacts: GIVEN }, 'contacts'),
  ],
};
