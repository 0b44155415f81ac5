// Lists the fields of a schema for the reference's tables: one row per field, nested ones by path.
import type { Json, OpenApiDocument } from './types';

export interface FieldRow {
  path: string;
  type: string;
  required: boolean;
  text: string;
}

/** No schema of the document is nested deeper. */
const DEPTH_MAX = 8;

export function fieldsOf(document: OpenApiDocument, schema: Json): FieldRow[] {
  return rowsOf(document, schema, '', 0);
}

/** Follows a $ref; an inline schema is returned as it is. */
export function resolve(document: OpenApiDocument, schema: Json): Json {
  const { $ref } = schema as { $ref?: string };
  if ($ref === undefined) return schema;
  const [kind = '', name = ''] = $ref.split('/').slice(2);
  return document.components[kind]?.[name] as Json;
}

function rowsOf(document: OpenApiDocument, given: Json, prefix: string, depth: number): FieldRow[] {
  if (depth > DEPTH_MAX) return [];
  const schema = resolve(document, given);
  const required = (schema['required'] ?? []) as string[];
  return Object.entries((schema['properties'] ?? {}) as Record<string, Json>).flatMap(
    ([name, inner]) => {
      const path = prefix + name;
      const field = resolve(document, inner);
      const row = {
        path,
        type: typeOf(field),
        required: required.includes(name),
        text: textOf(field),
      };
      return [row, ...innerRows(document, field, path, depth + 1)];
    },
  );
}

function innerRows(
  document: OpenApiDocument,
  field: Json,
  path: string,
  depth: number,
): FieldRow[] {
  const { items, additionalProperties } = field as { items?: Json; additionalProperties?: unknown };
  if (items) return rowsOf(document, items, `${path}[].`, depth);
  if (typeof additionalProperties === 'object' && additionalProperties !== null) {
    return rowsOf(document, additionalProperties as Json, `${path}.*.`, depth);
  }
  return rowsOf(document, field, `${path}.`, depth);
}

function typeOf(schema: Json): string {
  const {
    type,
    items,
    const: only,
  } = schema as { type?: string | string[]; items?: Json; const?: unknown };
  if (only !== undefined) return JSON.stringify(only);
  if (type === 'array' && items) return `array of ${plural(items)}`;
  if (Array.isArray(type)) return type.join(' or ');
  return type ?? 'any';
}

const plural = (items: Json): string =>
  typeof items['type'] === 'string' ? `${items['type']}s` : 'objects';

type Limit = [key: string, say: (value: unknown) => string];

const LIMITS: readonly Limit[] = [
  ['enum', (values) => `One of ${(values as unknown[]).filter((one) => one !== null).join(', ')}.`],
  ['maxLength', (value) => `At most ${String(value)} characters.`],
  ['minimum', (value) => `At least ${String(value)}.`],
  ['maximum', (value) => `At most ${String(value)}.`],
  ['maxItems', (value) => `At most ${String(value)} items.`],
  ['default', (value) => `Defaults to ${String(value)}.`],
];

/** The description, followed by the limits of the schema. */
export function textOf(schema: Json): string {
  const limits = LIMITS.filter(([key]) => schema[key] !== undefined);
  return [
    ...(typeof schema['description'] === 'string' ? [schema['description']] : []),
    ...limits.map(([key, say]) => say(schema[key])),
  ].join(' ');
}
