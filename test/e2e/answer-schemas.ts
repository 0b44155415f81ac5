// Validates responses against the OpenAPI document that the gateway serves. Objects are closed for
// this: an undocumented field is a fault here, although partners must tolerate new fields.
import type { OpenApiDocument } from '../../gateway/src/openapi';
import { createValidator, type Validate } from '../contract/ajv';
import { operationsOf, type FoundOperation } from '../contract/openapi-structure';
import type { TableAnswer } from './endpoint-stage';

type Json = Record<string, unknown>;

/** Headers of a success that depend on the request. */
const SOMETIMES = ['Idempotency-Replayed', 'X-Service-Ignored'];

export interface AnswerSchemas {
  /** Returns the problems of the answer; empty if it matches the document. */
  check(operation_id: string, answer: TableAnswer): string[];
  operations: FoundOperation[];
}

const ID = 'openapi.json';

export async function readAnswerSchemas(gateway_url: string): Promise<AnswerSchemas> {
  const served = await fetch(`${gateway_url}/openapi.json`);
  const document = (await served.json()) as OpenApiDocument;
  const validator = createValidator();
  validator.addSchema({ ...(withClosedObjects(document) as Json), $id: ID });
  const operations = operationsOf(document);
  const compiled = new Map<string, Validate>();

  /** Returns the validator of the response schema for this status and content type. */
  const validate = ({ path, verb }: FoundOperation, status: number, type: string): Validate => {
    const steps = ['paths', path, verb, 'responses', String(status), 'content', type, 'schema'];
    const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('/', '~1'))).join('/');
    const key = `${ID}#/${pointer}`;
    const known = compiled.get(key) ?? validator.compile({ $ref: key });
    compiled.set(key, known);
    return known;
  };

  return {
    operations,
    check(operation_id, { status, type, body, headers }) {
      const found = operations.find(({ operation }) => operation.operationId === operation_id);
      if (!found) return [`${operation_id} is not in the document`];
      const response = found.operation.responses[String(status)];
      if (!response || '$ref' in response)
        return [`${status} is not a success status of ${operation_id}`];
      const absent = Object.keys(response.headers).filter(
        (name) => !headers.has(name) && !SOMETIMES.includes(name),
      );
      const problems = absent.map((name) => `the header ${name} is missing`);
      if (!response.content[type]) {
        return '*/*' in response.content
          ? problems
          : [...problems, `${type} is not in the document`];
      }
      const check = validate(found, status, type);
      if (check(body)) return problems;
      return [...problems, ...describeFaults(check)];
    },
  };
}

/** The faults that the validator has found last. */
export const describeFaults = ({ errors }: Validate): string[] =>
  (errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${instancePath || 'the body'} ${message ?? ''} ${JSON.stringify(params)}`,
  );

/** Copies a schema and forbids unnamed keys, except if `additionalProperties` is given. */
export function withClosedObjects(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withClosedObjects);
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withClosedObjects(one)]),
  );
  const isOpenObject =
    inner['type'] === 'object' &&
    typeof inner['properties'] === 'object' &&
    inner['additionalProperties'] === undefined;
  return isOpenObject ? { ...inner, additionalProperties: false } : inner;
}
