// Structure rules of OpenAPI 3.1 for the objects of our document: the allowed and required keys.
import {
  operationsOf as listOperations,
  type FoundOperation,
  type OpenApiDocument,
  type Parameter,
} from '../../gateway/src/openapi';

type Json = Record<string, unknown>;

/** Checks a value and returns its problems, each with its location. */
type Check = (value: unknown, where: string) => string[];

interface Keys {
  required?: Record<string, Check>;
  optional?: Record<string, Check>;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrong = (where: string, what: string): string[] => [`${where}: ${what}`];

const object =
  ({ required = {}, optional = {} }: Keys): Check =>
  (value, where) => {
    if (!isObject(value)) return wrong(where, 'is not an object');
    const known = { ...required, ...optional };
    const missing = Object.keys(required).filter((key) => value[key] === undefined);
    const entries = Object.entries(value).filter(([key]) => !key.startsWith('x-'));
    return [
      ...missing.flatMap((key) => wrong(where, `has no ${key}`)),
      ...entries.flatMap(
        ([key, inner]) =>
          known[key]?.(inner, `${where}/${key}`) ?? wrong(where, `has an unknown key ${key}`),
      ),
    ];
  };

/** An object with arbitrary keys that match the pattern. */
const map =
  (inner: Check, pattern = /^[a-zA-Z0-9._-]+$/): Check =>
  (value, where) => {
    if (!isObject(value)) return wrong(where, 'is not an object');
    return Object.entries(value).flatMap(([key, one]) =>
      pattern.test(key) ? inner(one, `${where}/${key}`) : wrong(where, `has a bad key ${key}`),
    );
  };

const list =
  (inner: Check): Check =>
  (value, where) =>
    Array.isArray(value)
      ? value.flatMap((one, at) => inner(one, `${where}/${at}`))
      : wrong(where, 'is not an array');

const is =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, where) =>
    holds(value) ? [] : wrong(where, `is not ${what}`);

const text = is('a non-empty string', (value) => typeof value === 'string' && value !== '');
const flag = is('a boolean', (value) => typeof value === 'boolean');
const anything: Check = () => [];
const schema = is('a schema', (value) => isObject(value) || typeof value === 'boolean');
const url = is('a URL', (value) => URL.canParse(String(value)));
const oneOf = (...values: string[]): Check =>
  is(`one of ${values.join(', ')}`, (value) => values.includes(value as string));

/** A reference may have a summary and a description. */
const orReference =
  (inner: Check): Check =>
  (value, where) =>
    isObject(value) && '$ref' in value
      ? object({ required: { $ref: text }, optional: { summary: text, description: text } })(
          value,
          where,
        )
      : inner(value, where);

const media = object({ optional: { schema, example: anything, examples: anything } });
const content = map(media, /^[\w*.+-]+\/[\w*.+-]+$/);

const header = orReference(
  object({ required: { schema }, optional: { description: text, required: flag } }),
);

const parameterKeys = object({
  required: { name: text, in: oneOf('path', 'query', 'header', 'cookie'), schema },
  optional: { description: text, required: flag, deprecated: flag },
});

const parameter = orReference((value, where) => [
  ...parameterKeys(value, where),
  ...((value as Json)['in'] === 'path' && (value as Json)['required'] !== true
    ? wrong(where, 'is in the path and not required')
    : []),
]);

const response = orReference(
  object({ required: { description: text }, optional: { headers: map(header), content } }),
);

const security = list(map(list(text)));

const operation: Keys = {
  required: {
    operationId: is('an id', (value) => /^[a-z][A-Za-z0-9]+$/.test(String(value))),
    responses: map(response, /^[1-5](\d\d|XX)$/),
    tags: list(text),
    summary: text,
  },
  optional: {
    description: text,
    parameters: list(parameter),
    requestBody: object({ required: { content }, optional: { description: text, required: flag } }),
    deprecated: flag,
    security,
  },
};

const verbs = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const pathItem = object({
  optional: {
    ...Object.fromEntries(verbs.map((verb) => [verb, object(operation)])),
    parameters: list(parameter),
  },
});

/** Webhooks have no tags, because they are in no chapter. */
const { tags: _tags, ...untagged } = operation.required ?? {};
const webhook = object({
  required: { post: object({ required: untagged, optional: operation.optional ?? {} }) },
});

const securityScheme = object({
  required: { type: oneOf('apiKey'), name: text, in: oneOf('query', 'header', 'cookie') },
  optional: { description: text },
});

const root = object({
  required: {
    openapi: is('3.1', (value) => /^3\.1\.\d+$/.test(String(value))),
    info: object({
      required: { title: text, version: text },
      optional: { summary: text, description: text, license: anything, contact: anything },
    }),
    paths: map(pathItem, /^\/[\w/{}-]+$/),
    webhooks: map(webhook, /^[a-z_]+(\.[a-z_]+)?$/),
  },
  optional: {
    servers: list(object({ required: { url }, optional: { description: text } })),
    tags: list(object({ required: { name: text }, optional: { description: text } })),
    security,
    components: object({
      optional: {
        schemas: map(schema),
        responses: map(response),
        parameters: map(parameter),
        headers: map(header),
        securitySchemes: map(securityScheme),
      },
    }),
  },
});

export const checkDocument = (document: OpenApiDocument): string[] => root(document, '#');

/** Yields every string of a value. */
export function* strings(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) yield* strings(inner);
  }
}

/** Yields the target of every reference in the document. */
export const pointersOf = (document: OpenApiDocument): string[] => [
  ...new Set([...refs(document)]),
];

function* refs(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') yield inner;
    else yield* refs(inner);
  }
}

export const valueAt = (document: OpenApiDocument, pointer: string): unknown =>
  pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document);

export type { FoundOperation };

/** Each has its parameters, references resolved. */
export const operationsOf = (
  document: OpenApiDocument,
): Array<FoundOperation & { parameters: Parameter[] }> =>
  listOperations(document).map((found) => ({
    ...found,
    parameters: found.operation.parameters.map((one) =>
      '$ref' in one ? (valueAt(document, one.$ref) as Parameter) : one,
    ),
  }));

/** Yields every schema of the document with its location. */
export function schemasOf(document: OpenApiDocument): Array<[string, object]> {
  const found: Array<[string, object]> = [];
  const walk = (value: unknown, where: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'schema') found.push([`${where}/schema`, inner as object]);
      else if (key === 'schemas' && where === '#/components') {
        for (const [name, one] of Object.entries(inner as Json)) {
          found.push([`${where}/schemas/${name}`, one as object]);
        }
      } else walk(inner, `${where}/${key}`);
    }
  };
  walk(document, '#');
  return found;
}
