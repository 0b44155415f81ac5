// Reads the parts of the OpenAPI document: its operations, schemas and texts.
import {
  operationsOf as listOperations,
  type FoundOperation,
  type OpenApiDocument,
} from '../../gateway/src/openapi';
import type { Parameter } from '../../gateway/src/openapi/schemas';

type Json = Record<string, unknown>;

/** Yields every string of a value. */
export function* strings(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) yield* strings(inner);
  }
}

const valueAt = (document: OpenApiDocument, pointer: string): unknown =>
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
