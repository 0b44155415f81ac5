// Rules between fields as the OpenAPI document states them. The services enforce them, with clearer
// messages than a schema gives.
import { BSUID_PATTERN, PHONE_PATTERN } from '@bmg/common/ids';
import type { Schema } from './schema';

export const FILLED: Schema = { type: 'string', pattern: '\\S' };
const BLANK: Schema = { type: 'string', pattern: '^ *$' };
const BSUID: Schema = { type: 'string', pattern: `^ *${BSUID_PATTERN} *$` };
const PERSON = `(?:${BSUID_PATTERN}|${PHONE_PATTERN})`;

export const atLeastOne = (keys: string[]): Schema => ({
  anyOf: keys.map((key) => ({ required: [key] })),
});

/** The schema of a body that has to name one of its properties. */
export const notEmpty = (schema: Schema): Schema => ({
  ...schema,
  published: { allOf: [atLeastOne(Object.keys(schema.properties ?? {}))] },
});

const named = (properties: Record<string, Schema>, required: string): Schema => ({
  properties,
  required: [required],
});

/** A phone number or BSUID in `to` wins over a BSUID in `user_id`, and that over one in `recipient`. */
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
  if: { properties: { [key]: { const: value } } },
  then,
});

export const person: Schema = { pattern: `^${PERSON}$` };
export const phone: Schema = { pattern: `^${PHONE_PATTERN}$` };
/** A contact of a broadcast: a blank one is skipped. */
export const contact: Schema = { pattern: `^ *${PERSON}? *$` };

/** A text, or an object as the upstream returns it. */
export const participant: Schema = {
  anyOf: [
    FILLED,
    ...['user', 'wa_id', 'user_id'].map((key) => ({
      type: 'object',
      ...named({ [key]: FILLED }, key),
    })),
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
  { oneOf: [{ required: ['from'] }, { required: ['event_ids'] }] },
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

export const checked: Schema = {
  anyOf: [
    { required: ['kind'] },
    named({ template_name: FILLED }, 'template_name'),
    named(
      { contacts: { type: 'array', minItems: 1, items: { type: ['string', 'object'] } } },
      'contacts',
    ),
  ],
};
