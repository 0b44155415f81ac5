// The arguments of a tool are the headers, path parameters, query and body of its row, side by
// side: this module has their schema, and makes the request of the row.
import { invalidField, missingFields } from '@bmg/common/errors';
import { pathParametersOf, type Endpoint, type Fields } from '../endpoints/endpoint';
import { closest } from '../endpoints/parts/closest';
import type { Schema } from '../endpoints/parts/schema';
import { parameters } from '../openapi/parts';
import { plainSchema, type Json, type Parameter } from '../openapi/schemas';

export interface InputSchema {
  [key: string]: unknown;
  type: 'object';
  properties: Record<string, Json>;
  required: string[];
  additionalProperties: false;
}

/** Where an argument belongs in the request of its row. */
export type Place = 'header' | 'path' | 'query' | 'body';

export const CONFIRMATION = 'confirmation';

/**
 * Headers of a scope, by the name of their argument, and their parameters of the OpenAPI document.
 */
const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  number: { waba_id: 'WabaId', phone_number_id: 'PhoneNumberId' },
  filter: { waba_id: 'WabaFilter' },
};

type HeaderParameter = Parameter & { description: string };

/** The headers that a row's scope reads, by the name of their argument. */
export const headersOf = ({ scope }: Endpoint): Record<string, HeaderParameter> =>
  Object.fromEntries(
    Object.entries(HEADERS[scope] ?? {}).map(([name, parameter]) => [
      name,
      parameters[parameter] as HeaderParameter,
    ]),
  );

/**
 * The place of each argument that the row names. If two have one name, the header is the argument:
 * it selects the number that the request acts for.
 */
export function placesOf(endpoint: Endpoint): Map<string, Place> {
  const named: Array<[Place, string[]]> = [
    ['header', Object.keys(headersOf(endpoint))],
    ['path', pathParametersOf(endpoint)],
    ['query', Object.keys(endpoint.query?.properties ?? {})],
    ['body', Object.keys(endpoint.body?.properties ?? {})],
  ];
  const places = new Map<string, Place>();
  for (const [place, names] of named) {
    for (const name of names) if (!places.has(name)) places.set(name, place);
  }
  return places;
}

/**
 * Rules between fields stay with the row, which enforces them: several models refuse a tool whose
 * schema has anyOf or allOf at the top.
 */
export function inputSchemaOf(endpoint: Endpoint, is_confirmed: boolean): InputSchema {
  const { query, body, params } = endpoint;
  const headers = Object.entries(headersOf(endpoint));
  const path = pathParametersOf(endpoint);
  const required = (schema: Schema | undefined): readonly string[] => schema?.required ?? [];
  return {
    type: 'object',
    properties: {
      ...propertiesOf(query),
      ...propertiesOf(body),
      ...Object.fromEntries(
        path.map((name) => [name, plain(params?.[name] ?? { type: 'string' })]),
      ),
      ...Object.fromEntries(
        headers.map(([name, { name: header, description, schema }]) => [
          name,
          { ...schema, description: `${description} Sent as \`${header}\`.` },
        ]),
      ),
      ...(is_confirmed && {
        [CONFIRMATION]: {
          type: 'string',
          description:
            'Of an earlier call with the same arguments. With it the message is sent; without it nothing is.',
        },
      }),
    },
    required: [
      ...headers.filter(([, header]) => header.required).map(([name]) => name),
      ...path,
      ...required(query),
      ...required(body),
    ],
    additionalProperties: false,
  };
}

const plain = (schema: Schema): Json => plainSchema(schema, { request: true });

const propertiesOf = (schema: Schema = {}): Record<string, Json> =>
  (plain(schema)['properties'] ?? {}) as Record<string, Json>;

/** A request of a row, before it is carried out. */
export interface RowRequest {
  params: Record<string, string>;
  query: Record<string, string>;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Fields;
}

/** Bounds a header, a path parameter or a query: it is longer than any cursor. */
const TEXT_MAX = 2_048;
/** Unknown arguments that an error compares with the known ones. */
const UNKNOWN_MAX = 20;

/**
 * Throws for an argument that the row does not have, and for one that no URL or header can carry.
 */
export function readArguments(endpoint: Endpoint, given: Fields): RowRequest {
  const places = placesOf(endpoint);
  const request: RowRequest = { params: {}, query: {}, headers: {}, body: {} };
  refuseUnknown(Object.keys(given), [...places.keys()]);
  for (const [name, value] of Object.entries(given)) {
    const place = places.get(name) ?? 'body';
    // Absent, as in a body of JSON.
    if (value === undefined) continue;
    if (place === 'body') request.body[name] = bodyValueOf(endpoint, name, value);
    else put(request, endpoint, { place, name, text: textOf(name, value) });
  }
  const missing = pathParametersOf(endpoint).filter((name) => !request.params[name]?.trim());
  if (missing.length > 0) throw missingFields(missing);
  return request;
}

function put(
  { params, query, headers }: RowRequest,
  endpoint: Endpoint,
  { place, name, text }: { place: Exclude<Place, 'body'>; name: string; text: string },
): void {
  if (place === 'path') params[name] = text;
  else if (place === 'query') query[name] = text;
  else headers[headersOf(endpoint)[name]?.name ?? name] = text;
}

function refuseUnknown(given: string[], known: string[]): void {
  const unknown = given.filter((name) => !known.includes(name)).slice(0, UNKNOWN_MAX);
  const [first] = unknown;
  if (first === undefined) return;
  const meant = closest(first, known);
  const also = unknown.slice(1);
  throw invalidField(
    first.slice(0, TEXT_MAX),
    `is not an argument of this tool${meant === undefined ? '' : `: did you mean ${meant}?`}`,
    also.length > 0 ? { also } : {},
  );
}

function textOf(name: string, value: unknown): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw invalidField(name, 'must be a string or a number');
  }
  const text = String(value);
  if (text.length > TEXT_MAX) throw invalidField(name, `must have at most ${TEXT_MAX} characters`);
  return text;
}

/**
 * Models and command lines pass a phone number or an ID as a number, although the row expects a
 * string.
 */
const bodyValueOf = ({ body }: Endpoint, name: string, value: unknown): unknown =>
  body?.properties?.[name]?.type === 'string' && Number.isSafeInteger(value)
    ? String(value)
    : value;

/** `/messages/:message_id/timeline` with its values and query. */
export function pathOf({ path }: Endpoint, { params, query }: RowRequest): string {
  const filled = path.replace(/:(\w+)/g, (_all, name: string) =>
    // Half of a surrogate pair cannot be encoded: a buffer replaces it.
    encodeURIComponent(Buffer.from(params[name] ?? '').toString()),
  );
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
}
