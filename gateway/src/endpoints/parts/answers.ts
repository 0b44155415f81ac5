// Building blocks of response schemas. Every leaf has an example: the example response in the
// reference is assembled from them, so it cannot contradict the schema. Descriptions are sentences.
import { API_VERSION, NOTICES } from '@bmg/common/notices';
import { CURSOR_PATTERN } from './inputs';
import type { Schema } from './schema';

const described = (description?: string): Schema => (description ? { description } : {});

export const text = (example: string, description?: string): Schema => ({
  type: 'string',
  examples: [example],
  ...described(description),
});

/** A cursor of our own: opaque to the caller. */
export const cursor = (example: string, description?: string): Schema => ({
  ...text(example, description),
  pattern: CURSOR_PATTERN,
});

export const choice = (values: readonly string[], description?: string): Schema => ({
  type: 'string',
  enum: values,
  ...described(description),
});

/** A text with known values, to which more may be added. */
export const open = (values: readonly string[], description?: string): Schema => ({
  type: 'string',
  examples: [...values],
  description: `${description ? `${description} ` : ''}${KNOWN}${values.join(', ')}.`,
});

const KNOWN = 'Known values: ';

/** The values of a schema that `open` made; none of any other schema. */
export const knownValuesOf = ({ description = '', examples = [] }: Schema): readonly unknown[] =>
  description.includes(KNOWN) ? examples : [];

/** Any value the upstream sends, or null. */
export const any = (description: string): Schema => ({
  type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
  items: {},
  description,
  examples: [null],
});

export const whole = (example: number, description?: string): Schema => ({
  type: 'integer',
  examples: [example],
  ...described(description),
});

export const amount = (example: number, description?: string): Schema => ({
  type: 'number',
  examples: [example],
  ...described(description),
});

export const flag = (example: boolean, description?: string): Schema => ({
  type: 'boolean',
  examples: [example],
  ...described(description),
});

export const time = (description?: string): Schema => ({
  type: 'string',
  format: 'date-time',
  examples: ['2026-09-01T12:00:00.000Z'],
  ...described(description),
});

export const orNull = (schema: Schema): Schema => ({
  ...schema,
  type: [schema.type as string, 'null'],
  ...(schema.enum && { enum: [...schema.enum, null] }),
});

export const list = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...described(description),
});

interface Trait {
  /** Keys that may be absent. */
  optional?: string[];
  description?: string;
  /** Name of the schema under `components` in the OpenAPI document. */
  title?: string;
}

const objectOf = (
  properties: Record<string, Schema>,
  { optional = [], ...rest }: Trait,
): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
  ...rest,
});

/** One of our own objects: exactly these keys, until a later version adds some. */
export const record = (properties: Record<string, Schema>, trait: Trait = {}): Schema =>
  objectOf(properties, trait);

/** A record that is a component of its own in the OpenAPI document. */
export const named = (title: string, properties: Record<string, Schema>): Schema =>
  record(properties, { title });

/** An object of the upstream's: any known key may be absent, and other keys may be present. */
export const node = (properties: Record<string, Schema>, trait: Trait = {}): Schema => ({
  ...objectOf(properties, { ...trait, optional: Object.keys(properties) }),
  additionalProperties: true,
});

const nullable =
  <A extends unknown[]>(make: (...args: A) => Schema) =>
  (...args: A): Schema =>
    orNull(make(...args));

/** The blocks that are null without a value. */
export const maybe = {
  text: nullable(text),
  whole: nullable(whole),
  amount: nullable(amount),
  flag: nullable(flag),
  time: nullable(time),
  open: nullable(open),
  list: nullable(list),
  record: nullable(record),
  node: nullable(node),
};

/** A map from a name to objects of one kind. */
export const byName = (value: Schema, description: string): Schema => ({
  type: 'object',
  additionalProperties: value,
  description,
});

/** Only `success: true`. */
export const nothing = record({}, { title: 'SuccessAnswer' });

export const paging = record(
  {
    cursors: record({
      before: orNull(text('QVFIUmFhYWE')),
      after: orNull(text('QVFIUmJiYmI')),
    }),
  },
  {
    description:
      'Cursors to pass as `after` or `before`. Null where there is no further page in that direction.',
  },
);

/** The cursor of a list that the service pages. */
export const nextPage = (example: string): Schema =>
  record({ cursors: record({ after: orNull(cursor(example)) }) });

export const used_limit = whole(50, 'The page size that was used.');

/** Contract 10.2: values of `quality_rating` and `messaging_limit_tier`. */
export const quality_rating = open(['GREEN', 'YELLOW', 'RED']);
export const messaging_limit_tier = open([
  'TIER_250',
  'TIER_1K',
  'TIER_2K',
  'TIER_10K',
  'TIER_100K',
  'UNLIMITED',
]);

export const EVENT_ID = 'evt_8_kN_6GiC20OAm37';

/** The meta data in the envelope of every event. */
export const event_meta = record(
  {
    event_id: text(
      EVENT_ID,
      'ID of the event, the same on every attempt. Also in the header `webhook-id`.',
    ),
    api_version: text(API_VERSION),
    changelog: text('https://gateway.example.com/changelog'),
    notices: list(
      record({
        id: text(NOTICES[0]?.id ?? 'notice'),
        severity: choice(['info', 'action_required', 'breaking']),
        effective: { type: 'string', format: 'date', examples: ['2026-10-01'] },
      }),
    ),
  },
  { title: 'EventMeta' },
);
