// Builds the OpenAPI 3.1 document from the endpoint table, its schemas and its docs.
import { CATALOG } from '@bmg/common/errors';
import { API_VERSION, NOTICES } from '@bmg/common/notices';
import { exampleOf } from './example';
import type { Chapter } from '../endpoints';
import {
  documentPath,
  keyScopeOf,
  pathParametersOf,
  usageName,
  type Endpoint,
} from '../endpoints/endpoint';
import { codesOf, errorResponseName, errorResponses, errorSchema } from './errors';
import { limitsOf, type OperationLimits } from './limits';
import * as parts from './parts';
import { mapValues, portable, withPortableSchemas } from './portable';
import {
  describeSchema,
  plainSchema,
  SharedSchemas,
  type Json,
  type Parameter,
  type Reference,
} from './schemas';
import { webhooksOf, type WebhookItem } from './webhooks';
import type { Schema } from '../endpoints/parts/schema';

export { documentPath };

interface MediaContent {
  schema: Json | Reference;
  example?: unknown;
}

interface OperationObject {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters: Array<Parameter | Reference>;
  requestBody?: { required: boolean; content: Record<string, MediaContent> };
  responses: Record<string, Reference | AnswerObject>;
  security?: Array<Record<string, string[]>>;
  'x-codes': string[];
  'x-counted': boolean;
  /** The scope that an API key needs. */
  'x-key-scope'?: string;
  'x-rate-limit': OperationLimits;
  'x-usage-name'?: string;
  /** Present on endpoints beside the contract's. */
  'x-addition'?: true;
  /** Present if no key may call it: only a person who is signed in to the console. */
  'x-person-only'?: true;
}

export interface AnswerObject {
  description: string;
  headers: Json;
  content: Record<string, MediaContent>;
}

export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';
type PathItem = Partial<Record<Verb, OperationObject>>;

export interface OpenApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    description: string;
    contact: { name: string; url: string };
    license: { name: string; url: string };
  };
  servers: Array<{ url: string }>;
  tags: Array<{ name: string; description: string }>;
  security: Array<Record<string, string[]>>;
  paths: Record<string, PathItem>;
  /** The events that the service posts to partners, by name. */
  webhooks: Record<string, WebhookItem>;
  components: Record<string, Json>;
  'x-notices': unknown;
}

const HEALTH_CHAPTER = { name: 'Health', description: 'Check whether the service is available.' };
const JSON_TYPE = 'application/json';

const DESCRIPTION = `A JSON REST API to send and receive business messages for the numbers of your clients.

Authenticate every request except \`GET /health\` with the header \`x-partner-key\`. Requests that act on a client number also need \`x-waba-id\`, and \`x-phone-number-id\` if the business account has two or more registered numbers. Field names are in snake_case. A success has \`success: true\`; a failure has \`success: false\` and an \`error\` object. New fields, codes and values can be added at any time: ignore any that you do not know.`;

export function buildOpenApi(
  chapters: readonly Chapter[],
  { public_url }: { public_url: string },
): OpenApiDocument {
  const shared = new SharedSchemas();
  shared.add('Error', errorSchema);
  shared.add('Health', parts.healthSchema);
  const paths: Record<string, PathItem> = {};
  const add = (path: string, verb: Verb, operation: OperationObject): void => {
    (paths[path] ??= {})[verb] = operation;
  };
  for (const { name, rows } of chapters) {
    for (const row of rows) {
      add(documentPath(row), row.verb.toLowerCase() as Verb, operationOf(row, name, shared));
    }
  }
  add('/health', 'get', health);
  const webhooks = webhooksOf(shared);
  return portableDocument({
    openapi: '3.1.0',
    info: {
      title: 'Business Messaging Gateway',
      version: API_VERSION,
      description: DESCRIPTION,
      contact: { name: 'The operator of this gateway', url: `${public_url}/docs` },
      license: { name: 'Proprietary', url: `${public_url}/docs` },
    },
    servers: [{ url: `${public_url}/v1` }],
    tags: [...chapters, HEALTH_CHAPTER].map(({ name, description }) => ({ name, description })),
    security: [{ PartnerKey: [] }],
    paths,
    webhooks,
    components: {
      schemas: shared.schemas,
      responses: errorResponses(parts.everyHeader, parts.ignoredHeader),
      parameters: parts.parameters,
      headers: parts.headers,
      securitySchemes: parts.securitySchemes,
    },
    'x-notices': NOTICES,
  });
}

const portableDocument = ({ components, ...rest }: OpenApiDocument): OpenApiDocument => ({
  ...withPortableSchemas(rest),
  components: {
    ...withPortableSchemas(components),
    schemas: mapValues(components['schemas'] as Record<string, Json>, portable),
  },
});

export interface FoundOperation {
  verb: Verb;
  path: string;
  operation: OperationObject;
}

export const operationsOf = ({ paths }: OpenApiDocument): FoundOperation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    (Object.entries(item) as Array<[Verb, OperationObject]>).map(([verb, operation]) => ({
      verb,
      path,
      operation,
    })),
  );

/** The parameter itself, if there is only a reference to it. */
export function resolved(
  { components }: OpenApiDocument,
  parameter: Parameter | Reference,
): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const name = parameter.$ref.split('/').at(-1) ?? '';
  return components['parameters']?.[name] as Parameter;
}

export const operationName = ({ operation, rpc }: Pick<Endpoint, 'operation' | 'rpc'>): string =>
  operation ?? rpc.method;

function operationOf(row: Endpoint, tag: string, shared: SharedSchemas): OperationObject {
  const operationId = operationName(row);
  const codes = codesOf(row);
  const { summary = operationId, counted = true } = row;
  const description = descriptionOf(row);
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [tag],
    parameters: parametersOf(row),
    ...(row.body && { requestBody: requestBodyOf(row, row.body, shared) }),
    responses: {
      ...successesOf(row, shared),
      ...Object.fromEntries(
        [...new Set(codes.map((code) => CATALOG[code].http))]
          .sort((one, other) => one - other)
          .map((http) => [http, { $ref: `#/components/responses/${errorResponseName(http)}` }]),
      ),
    },
    ...(row.scope === 'session' && { security: [{ PartnerKey: [] }, { ConnectToken: [] }] }),
    'x-codes': codes,
    'x-counted': counted,
    'x-key-scope': keyScopeOf(row),
    'x-rate-limit': limitsOf(row),
    'x-usage-name': usageName(row),
    ...(row.addition && { 'x-addition': true as const }),
    ...(row.person_only && { 'x-person-only': true as const }),
  };
}

const descriptionOf = ({ notes, hands_events }: Endpoint): string =>
  [notes, hands_events && (hands_events === true ? HANDS_EVENTS : MAY_HAND_EVENTS)]
    .filter(Boolean)
    .join(' ');

const HANDS_EVENTS = 'An API key needs the scope `read` too: the request hands it events.';
const MAY_HAND_EVENTS =
  'To change which events are sent, or where to, an API key needs the scope `read` too.';

const parameter = (name: string): Reference => ({ $ref: `#/components/parameters/${name}` });

function parametersOf(row: Endpoint): Array<Parameter | Reference> {
  const { properties = {}, required = [] } = row.query ?? {};
  return [
    ...pathParametersOf(row).map((name) => pathParameter(row, name)),
    ...Object.entries(properties).map(([name, { description, ...schema }]): Parameter => ({
      name,
      in: 'query',
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: plainSchema(notEmpty(schema), { shared: new SharedSchemas() }),
    })),
    ...(row.scope === 'number' ? [parameter('WabaId'), parameter('PhoneNumberId')] : []),
    ...(row.scope === 'filter' ? [parameter('WabaFilter')] : []),
    ...(row.idempotent ? [parameter('IdempotencyKey')] : []),
  ];
}

/** An empty value in a query is refused. */
const notEmpty = (schema: Schema): Schema =>
  schema.type === 'string' && !schema.enum && !schema.pattern
    ? { ...schema, minLength: 1 }
    : schema;

function pathParameter({ params }: Endpoint, name: string): Parameter {
  const { description = name, ...schema } = params?.[name] ?? { type: 'string' };
  return { name, in: 'path', required: true, description, schema: { ...schema, minLength: 1 } };
}

function requestBodyOf(
  row: Endpoint,
  body: Schema,
  shared: SharedSchemas,
): NonNullable<OperationObject['requestBody']> {
  const { published } = body;
  const schema = shared.add(
    `${pascal(operationName(row))}Request`,
    plainSchema(body, { shared, request: true }),
  );
  return {
    required:
      (body.required?.length ?? 0) > 0 || Boolean(published?.allOf ?? published?.minProperties),
    content: { [JSON_TYPE]: { schema, ...(row.example && { example: row.example }) } },
  };
}

/** A row whose status depends on the reply creates (201) or updates (200). */
const statusesOf = ({ status = 200 }: Endpoint): number[] =>
  typeof status === 'function' ? [200, 201] : [status];

function successesOf(row: Endpoint, shared: SharedSchemas): Record<string, AnswerObject> {
  const headers: Json = {
    ...parts.everyHeader,
    ...parts.ignoredHeader,
    ...(row.counted !== false && parts.rateHeaders),
    ...(row.idempotent && parts.replayHeader),
  };
  const content = contentOf(row, shared);
  const described: Record<number, string> = { 200: 'Success', 201: 'Created' };
  return Object.fromEntries(
    statusesOf(row).map((status) => [
      status,
      { description: described[status] ?? 'Success', headers, content },
    ]),
  );
}

function contentOf(row: Endpoint, shared: SharedSchemas): Record<string, MediaContent> {
  if (row.stream) {
    // Generators need a type that they know; the second one covers every file.
    return { 'application/octet-stream': FILE, '*/*': FILE };
  }
  const answer = withSuccess(row.answer ?? { type: 'object' });
  const titled: Schema = { title: `${pascal(operationName(row))}Answer`, ...answer };
  return {
    [JSON_TYPE]: { schema: describeSchema(titled, { shared }), example: exampleOf(answer) },
    ...(row.csv && {
      'text/csv': { schema: { type: 'string', description: 'The rows, without pages.' } },
    }),
  };
}

const FILE: MediaContent = {
  schema: { type: 'string', format: 'binary', description: 'The file, in its own content type.' },
};

const withSuccess = (answer: Schema): Schema => ({
  ...answer,
  properties: { success: { const: true }, ...answer.properties },
  required: ['success', ...(answer.required ?? [])],
});

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const healthAnswer = (description: string): AnswerObject => ({
  description,
  headers: parts.everyHeader,
  content: {
    [JSON_TYPE]: {
      schema: { $ref: '#/components/schemas/Health' },
      example: {
        success: true,
        status: 'ok',
        version: API_VERSION,
        dependencies: { messaging: { status: 'ok' } },
      },
    },
  },
});

const health: OperationObject = {
  operationId: 'getHealth',
  summary: 'Check whether the service is available',
  description: 'Requires no partner key.',
  tags: [HEALTH_CHAPTER.name],
  parameters: [],
  responses: {
    200: healthAnswer(
      'Messages can be sent. `degraded` if another part of the service is unavailable.',
    ),
    // For a request that is not valid HTTP.
    400: { $ref: `#/components/responses/${errorResponseName(400)}` },
    503: healthAnswer('Messages cannot be sent at the moment.'),
  },
  security: [],
  'x-codes': [],
  'x-counted': false,
  'x-rate-limit': { counted: false },
};
