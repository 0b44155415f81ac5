// What descriptions of answers are made of. Every leaf has an example, so that the example of an answer
// is put together from its schema and cannot say anything else.
import type { Schema } from './schema';

const described = (description?: string): Schema => (description ? { description } : {});

export const text = (example: string, description?: string): Schema => ({
  type: 'string',
  examples: [example],
  ...described(description),
});

export const choice = (values: readonly string[], description?: string): Schema => ({
  type: 'string',
  enum: values,
  ...described(description),
});

/** Values that are known, of a field that may get more of them. */
export const open = (values: readonly string[], description?: string): Schema => ({
  type: 'string',
  examples: [...values],
  description: `${description ? `${description}; ` : ''}known: ${values.join(', ')}`,
});

/** Of the upstream's: a text, an object or nothing. */
export const any = (description: string): Schema => ({ description, examples: [null] });

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
  /** Stands under this name in the document, once. */
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

/** An object of ours: these keys and, until a later version, no others. */
export const record = (properties: Record<string, Schema>, trait: Trait = {}): Schema =>
  objectOf(properties, trait);

/** An object of the upstream's: the keys that are known, any of which may be absent, and others. */
export const node = (properties: Record<string, Schema>, trait: Trait = {}): Schema => ({
  ...objectOf(properties, { ...trait, optional: Object.keys(properties) }),
  additionalProperties: true,
});

/** Objects of one kind by a name. */
export const byName = (value: Schema, description: string): Schema => ({
  type: 'object',
  additionalProperties: value,
  description,
});

/** Success and nothing else. */
export const nothing = record({}, { title: 'Success' });

export const paging = record(
  {
    cursors: record({
      before: orNull(text('QVFIUmFhYWE')),
      after: orNull(text('QVFIUmJiYmI')),
    }),
  },
  { description: 'pass a cursor on as `after` or `before`; null at an end' },
);

export const used_limit = whole(50, 'the page size that was used');
