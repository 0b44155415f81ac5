// Builds a collection in Postman's format 2.1, which Postman, Bruno, Insomnia and others import,
// and its environment for a mesh on one's own machine. Every request has the example of the OpenAPI
// document.
import { operationsOf, resolved, type FoundOperation, type OpenApiDocument } from './index';
import type { Json, Parameter } from './schemas';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const JSON_TYPE = 'application/json';
/** The addresses of `make up`, and the emulator's first account. */
const LOCAL = { base_url: 'http://127.0.0.1:8080/v1', waba_id: '900000000000001' };

interface Variable {
  key: string;
  value: string;
  type: 'default' | 'secret';
}

const variables = (base_url: string): Variable[] => [
  { key: 'base_url', value: base_url, type: 'default' },
  { key: 'partner_key', value: '', type: 'secret' },
  { key: 'waba_id', value: LOCAL.waba_id, type: 'default' },
];

export function buildCollection(document: OpenApiDocument): Json {
  const { info, servers, tags } = document;
  const operations = operationsOf(document);
  return {
    info: { name: info.title, description: info.description, schema: SCHEMA },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'in', value: 'header', type: 'string' },
        { key: 'key', value: 'x-partner-key', type: 'string' },
        { key: 'value', value: '{{partner_key}}', type: 'string' },
      ],
    },
    variable: variables(servers[0]?.url ?? ''),
    item: tags.map(({ name, description }) => ({
      name,
      description,
      item: operations
        .filter(({ operation }) => operation.tags.includes(name))
        .map((found) => itemOf(document, found)),
    })),
  };
}

/** The variables of the collection for a local mesh and its emulator. */
export const buildEnvironment = ({ info }: OpenApiDocument): Json => ({
  name: `${info.title}, local`,
  values: variables(LOCAL.base_url).map((variable) => ({ ...variable, enabled: true })),
  _postman_variable_scope: 'environment',
});

function itemOf(document: OpenApiDocument, { verb, path, operation }: FoundOperation): Json {
  const parameters = operation.parameters.map((one) => resolved(document, one));
  const content = operation.requestBody?.content[JSON_TYPE];
  return {
    name: operation.summary,
    request: {
      method: verb.toUpperCase(),
      description: operation.description,
      ...(operation.security?.length === 0 && { auth: { type: 'noauth' } }),
      header: [
        ...parameters.filter(({ in: place }) => place === 'header').map(headerOf),
        ...(content ? [{ key: 'Content-Type', value: JSON_TYPE }] : []),
      ],
      url: urlOf(path, parameters),
      ...(content && {
        body: {
          mode: 'raw',
          raw: JSON.stringify(content.example ?? {}, null, 2),
          options: { raw: { language: 'json' } },
        },
      }),
    },
    response: [],
  };
}

/** Filled in by variables; optional ones are there to be switched on. */
const HEADERS: Readonly<Record<string, string>> = {
  'x-waba-id': '{{waba_id}}',
  'Idempotency-Key': '{{$guid}}',
};

const headerOf = ({ name, required, description, schema }: Parameter): Json => ({
  key: name,
  value: HEADERS[name] ?? exampleOf(schema),
  description,
  ...(!required && name !== 'Idempotency-Key' && { disabled: true }),
});

function urlOf(path: string, parameters: Parameter[]): Json {
  const segments = path.slice(1).replace(/\{(\w+)\}/g, ':$1');
  const of = (place: Parameter['in']): Parameter[] => parameters.filter((one) => one.in === place);
  return {
    raw: `{{base_url}}/${segments}`,
    host: ['{{base_url}}'],
    path: segments.split('/'),
    query: of('query').map(({ name, required, description, schema }) => ({
      key: name,
      value: exampleOf(schema),
      description,
      disabled: !required,
    })),
    variable: of('path').map(({ name, description, schema }) => ({
      key: name,
      value: name === 'waba_id' ? '{{waba_id}}' : exampleOf(schema),
      description,
    })),
  };
}

/** Empty if the document has none. */
function exampleOf({ examples, default: fallback, enum: choices }: Json): string {
  const [first] = [...((examples as unknown[]) ?? []), fallback, ...((choices as unknown[]) ?? [])];
  return first === undefined ? '' : String(first);
}
