// The input of a tool: the headers, path parameters, query and body of its row side by side, as one
// object.
import type { Endpoint } from '../endpoints/endpoint';
import type { Schema } from '../endpoints/parts/schema';
import { parameters } from '../openapi/parts';
import { plainSchema, type Json } from '../openapi/schemas';

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

interface HeaderParameter {
  name: string;
  required: boolean;
  description: string;
  schema: Json;
}

/** The headers that a row's scope reads, by the name of their argument. */
export const headersOf = ({ scope }: Endpoint): Record<string, HeaderParameter> =>
  Object.fromEntries(
    Object.entries(HEADERS[scope] ?? {}).map(([name, parameter]) => [
      name,
      parameters[parameter] as HeaderParameter,
    ]),
  );

export const pathParametersOf = ({ path }: Endpoint): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

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
  const { query, body, docs } = endpoint;
  const headers = Object.entries(headersOf(endpoint));
  const path = pathParametersOf(endpoint);
  const required = (schema: Schema | undefined): readonly string[] => schema?.required ?? [];
  return {
    type: 'object',
    properties: {
      ...propertiesOf(query),
      ...propertiesOf(body),
      ...Object.fromEntries(
        path.map((name) => [name, plain(docs?.params?.[name] ?? { type: 'string' })]),
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
