// Renders the schemas of the OpenAPI document as lists of fields: name, type, bounds, description,
// and the fields below, which the reader opens.
import { WHOLE_MAX } from '../../endpoints/parts/schema';
import type { OpenApiDocument } from '../../openapi';
import type { Json, Parameter } from '../../openapi/schemas';
import { Html, html, none, prose } from '../html';

type Schemas = Readonly<Record<string, Json>>;
/** A field of a request is required or not; one of an answer is there or may be absent. */
export type Side = 'request' | 'answer';

/** A longer pattern helps only programs, which read it in the OpenAPI document. */
const PATTERN_MAX = 48;
/** Only says that a text is not blank, which `required` says, too. */
const NOT_BLANK = String.raw`\S`;

const schemasOf = ({ components }: OpenApiDocument): Schemas => components['schemas'] as Schemas;

/** The rule beside a type is narrower; see `portable.ts`. */
const typesOf = ({ type, if: rule }: Json & { if?: Json }): string[] =>
  [rule?.['type'] ?? type ?? []].flat() as string[];

interface Resolved {
  schema: Json;
  is_nullable: boolean;
}

/** Follows references, and takes the null of a union apart. */
function resolve(schemas: Schemas, schema: Json): Resolved {
  const { $ref, anyOf, ...own } = schema as Json & { $ref?: string; anyOf?: Json[] };
  if ($ref !== undefined) {
    const { schema: target, is_nullable } = resolve(schemas, schemas[nameOf($ref)] ?? {});
    return { schema: { ...target, ...own }, is_nullable };
  }
  const kinds = anyOf?.filter(({ type }) => type !== 'null') ?? [];
  if (anyOf && kinds.length === 1) {
    return { schema: { ...resolve(schemas, kinds[0] as Json).schema, ...own }, is_nullable: true };
  }
  const is_nullable =
    typesOf(schema).includes('null') || (anyOf !== undefined && kinds.length < anyOf.length);
  return { schema, is_nullable };
}

const nameOf = (reference: string): string => reference.split('/').at(-1) ?? '';

/** `arrays of strings`, `date-times`, `strings or objects`. */
const pluralOf = (kinds: string): string =>
  kinds
    .split(' or ')
    .map((kind) => {
      if (kind === 'any') return 'values';
      return kind.startsWith('array ') ? kind.replace('array', 'arrays') : `${kind}s`;
    })
    .join(' or ');

/** The type in words: `array of strings`, `string or null`. */
function typeIn(schemas: Schemas, schema: Json): string {
  const { schema: resolved, is_nullable } = resolve(schemas, schema);
  const kind = kindIn(schemas, resolved);
  return is_nullable && kind !== 'null' ? `${kind} or null` : kind;
}

function kindIn(schemas: Schemas, schema: Json): string {
  const { anyOf, items, format } = schema as Json & { anyOf?: Json[]; items?: Json };
  if (anyOf) {
    const kinds = anyOf.filter(({ type }) => type !== 'null').map((one) => typeIn(schemas, one));
    return [...new Set(kinds)].join(' or ');
  }
  const types = typesOf(schema);
  const [type = types[0] ?? 'any', ...others] = types.filter((one) => one !== 'null');
  if (others.length > 0) return [type, ...others].join(' or ');
  if (type === 'string' && (format === 'date-time' || format === 'date')) return format;
  if (type !== 'array') return type;
  const is_any = !items || Object.keys(items).length === 0;
  const of = is_any ? 'any' : kindIn(schemas, resolve(schemas, items).schema);
  return `array of ${pluralOf(of)}`;
}

const count = (value: unknown): string => Number(value).toLocaleString('en');

/** `1–10 items`, `at least 1`; undefined without bounds. The unit is in the plural. */
function range(least: unknown, most: unknown, units: string): string | undefined {
  const unit = (most ?? least) === 1 ? units.replace(/s$/, '') : units;
  if (least === undefined && most === undefined) return undefined;
  if (most === undefined) return `at least ${count(least)}${unit}`;
  if (least === undefined) return `at most ${count(most)}${unit}`;
  return least === most ? `${count(least)}${unit}` : `${count(least)}–${count(most)}${unit}`;
}

const code = (value: unknown): Html =>
  html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;

const codes = (values: readonly unknown[]): Html =>
  html`${values.map((value, at) => html`${at === 0 ? '' : ', '}${code(value)}`)}`;

/** What a value has to keep, one phrase each. */
function boundsOf(schema: Json): Html[] {
  const { enum: choices, const: only, default: fallback, pattern } = schema;
  const flag = (schema['if'] as Json | undefined)?.['const'];
  const ranges = [
    range(schema['minLength'], schema['maxLength'], ' characters'),
    range(schema['minimum'], schema['maximum'] === WHOLE_MAX ? undefined : schema['maximum'], ''),
    range(schema['minItems'], schema['maxItems'], ' items'),
    range(schema['minProperties'], schema['maxProperties'], ' keys'),
  ].filter((text) => text !== undefined);
  const shown =
    typeof pattern === 'string' && pattern !== NOT_BLANK && pattern.length <= PATTERN_MAX;
  return [
    Array.isArray(choices) && html`one of ${codes(choices.filter((one) => one !== null))}`,
    (only !== undefined || flag !== undefined) && html`always ${code(only ?? flag)}`,
    ...ranges.map((text) => html`${text}`),
    shown && html`matches ${code(pattern)}`,
    fallback !== undefined && html`default ${code(fallback)}`,
  ].filter((phrase) => phrase !== false);
}

/** The rules that at least one, or exactly one, of several fields is required. */
function choicesOf(schema: Json): Html[] {
  const { if: rule = {} } = schema as { if?: Json };
  return [rule, ...((rule['allOf'] as Json[] | undefined) ?? [])].flatMap((one) =>
    (['anyOf', 'oneOf'] as const).flatMap((key) => {
      const names = ((one[key] as Json[] | undefined) ?? []).map(
        ({ required = [] }) => required as string[],
      );
      if (names.length === 0 || names.some((required) => required.length !== 1)) return [];
      const few = key === 'anyOf' ? 'At least' : 'Exactly';
      return [html`<p>${few} one of ${codes(names.flat())} is required.</p>`];
    }),
  );
}

interface Part {
  title: string;
  schema: Json;
}

/** The schemas below a field that have fields of their own. */
function partsOf(schemas: Schemas, schema: Json): Part[] {
  const { anyOf, properties, items } = schema as Record<string, Json> & { anyOf?: Json[] };
  const { additionalProperties: values } = schema as { additionalProperties?: Json | boolean };
  if (anyOf) return anyOf.flatMap((one) => partsOf(schemas, resolve(schemas, one).schema));
  if (properties) return [{ title: 'Fields', schema }];
  const below = items ?? (typeof values === 'object' ? values : undefined);
  if (!below) return [];
  const title = items ? 'Fields of an item' : 'Fields of a value';
  return partsOf(schemas, resolve(schemas, below).schema).map((part) => ({ ...part, title }));
}

export type Field = Pick<Parameter, 'name' | 'schema' | 'required' | 'description'>;

/** Shows one field with everything below it. */
function fieldOf(
  schemas: Schemas,
  { name, schema, required, description }: Field,
  side: Side,
): Html {
  const { schema: resolved } = resolve(schemas, schema);
  const text = description ?? (resolved['description'] as string | undefined);
  const items = resolved['items'] as Json | undefined;
  const bounds = [
    ...boundsOf(resolved),
    // The bounds of an item without fields are those of the list's values.
    ...(items && partsOf(schemas, resolved).length === 0
      ? boundsOf(resolve(schemas, items).schema)
      : []),
  ];
  return html`<li>
    <p class="field">
      <code>${name}</code> <span class="dim">${typeIn(schemas, schema)}</span>
      ${presence(required, side)}
    </p>
    ${text === undefined ? none : html`<p>${prose(text)}</p>`}
    ${bounds.length === 0 ? none : html`<p class="dim">${sentence(bounds)}</p>`}
    ${partsOf(schemas, resolved).map(
      (part) =>
        html`<details>
          <summary>${part.title}</summary>
          ${fieldsIn(schemas, part.schema, side)}
        </details>`,
    )}
  </li> `;
}

const presence = (is_required: boolean, side: Side): Html => {
  if (side === 'answer') return is_required ? none : html`<span class="dim">may be absent</span>`;
  return is_required ? html`<strong>required</strong>` : none;
};

/** Phrases as one sentence, which begins with a capital. */
const sentence = (phrases: readonly Html[]): Html => {
  const text = phrases.map(({ markup }) => markup).join('; ');
  return new Html(text.charAt(0).toUpperCase() + text.slice(1));
};

function fieldsIn(schemas: Schemas, schema: Json, side: Side): Html {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const fields = Object.entries(properties).map(([name, property]) => ({
    name,
    schema: property,
    required: required.includes(name),
  }));
  return html`${choicesOf(schema)}${listOf(schemas, fields, side)}`;
}

const listOf = (schemas: Schemas, fields: readonly Field[], side: Side): Html =>
  html`<ul class="fields">
    ${fields.map((field) => fieldOf(schemas, field, side))}
  </ul>`;

/** Lists fields that are not the properties of one schema, such as parameters. */
export const fieldList = (document: OpenApiDocument, fields: readonly Field[], side: Side): Html =>
  listOf(schemasOf(document), fields, side);

/** Lists the fields of an object, or those of the objects that a list has. */
export function schemaFields(document: OpenApiDocument, schema: Json, side: Side): Html {
  const schemas = schemasOf(document);
  return html`${partsOf(schemas, resolve(schemas, schema).schema).map((part) => fieldsIn(schemas, part.schema, side))}`;
}
