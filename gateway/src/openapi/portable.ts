// Rewrites schemas into the subset of JSON Schema that client generators read alike. A rewritten
// schema accepts the same values: what generators misread moves into `if` and `else`, which
// validators apply and generators skip. The validators of the edge are compiled from the schemas as
// they are written.
import type { Json } from './schemas';

/** Matches no value; generators reject the schema `false`. */
const NEVER: Json = { not: {} };
const INT32_MAX = 2_147_483_647;

/** Assertions that generators of clients take for types of their own. */
const RULES = ['allOf', 'if', 'then', 'not', 'propertyNames', 'contains'] as const;
const ANNOTATIONS = ['title', 'description', 'examples', 'default'] as const;
const SCHEMAS = ['items', 'additionalProperties'] as const;
const LISTS = ['anyOf', 'oneOf'] as const;

/** The schema for the document, with everything inside it. References stay. */
export function portable(schema: Json): Json {
  if ('$ref' in schema) return schema;
  const types = [schema['type'] ?? []].flat() as string[];
  const kinds = types.filter((type) => type !== 'null');
  if (kinds.length > 1) return union(schema, kinds);
  if (types.length === 1 && kinds.length === 0) return alwaysNull(schema);
  if (typeof schema['const'] === 'boolean') return oneOfTwo(schema, schema['const']);
  return { ...formatOf(schema, kinds[0]), ...inner(withRules(schema)) };
}

/** For a generator, a value of several types has no type; the rule still checks it. */
function union(schema: Json, kinds: readonly string[]): Json {
  const shown = pick(schema, ANNOTATIONS);
  const rule = omit(schema, ANNOTATIONS);
  const isAny = ANY_TYPES.every((type) => kinds.includes(type));
  return isAny ? shown : { ...shown, if: rule, else: NEVER };
}

const ANY_TYPES = ['string', 'number', 'boolean', 'object', 'array'];

/** Generators know no type that only has null. */
const alwaysNull = (schema: Json): Json => ({
  ...schema,
  type: ['string', 'null'],
  if: { type: 'null' },
  else: NEVER,
});

/** A flag with a single value: the Java generator would make an enumeration of strings of it. */
const oneOfTwo = ({ const: _value, ...schema }: Json, value: boolean): Json => ({
  ...schema,
  type: 'boolean',
  if: { const: value },
  else: NEVER,
});

function withRules(schema: Json): Json {
  const rule = pick(schema, RULES);
  if (Object.keys(rule).length === 0) return schema;
  const { allOf, ...others } = rule as { allOf?: Json[] };
  const [first, ...more] = allOf ?? [];
  const alone = first && more.length === 0 && Object.keys(others).length === 0;
  return { ...omit(schema, RULES), if: alone ? first : rule, else: NEVER };
}

function formatOf(schema: Json, type: string | undefined): Json {
  if (type === 'integer') {
    const maximum = schema['maximum'] as number | undefined;
    return { format: maximum !== undefined && maximum <= INT32_MAX ? 'int32' : 'int64' };
  }
  if (type === 'number') return { format: 'double' };
  return type === undefined && 'const' in schema ? { type: typeof schema['const'] } : {};
}

function inner(schema: Json): Json {
  const result = { ...schema };
  const properties = schema['properties'] as Record<string, Json> | undefined;
  if (properties) result['properties'] = mapValues(properties, portable);
  for (const key of SCHEMAS) {
    if (isSchema(schema[key])) result[key] = portable(schema[key]);
  }
  for (const key of LISTS) {
    const list = schema[key] as Json[] | undefined;
    if (list) result[key] = list.map((one) => (one['type'] === 'null' ? one : portable(one)));
  }
  return result;
}

/** Every schema below a part of the document, rewritten. */
export function withPortableSchemas<T>(part: T): T {
  if (Array.isArray(part)) return part.map(withPortableSchemas) as T;
  if (!isSchema(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key === 'example') return [key, value];
      if (key === 'schema') return [key, portable(value as Json)];
      return [key, withPortableSchemas(value)];
    }),
  ) as T;
}

const isSchema = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const mapValues = <T, U>(
  map: Record<string, T>,
  change: (value: T) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));

const pick = (schema: Json, keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => keys.includes(key)));
const omit = (schema: Json, keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
