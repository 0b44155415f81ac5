// Builds an example value of a schema from the examples at its leaves.
import type { Schema } from '../endpoints/parts/schema';

/** Shows the required keys of our own objects, and every known key of the upstream's. */
export function exampleOf(schema: Schema): unknown {
  const [first] = schema.examples ?? [];
  if (first !== undefined) return first;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.items) return [exampleOf(schema.items)];
  if (!schema.properties) return emptyOf(schema);
  const { properties, required = [], additionalProperties } = schema;
  const shown = Object.entries(properties).filter(
    ([key]) => additionalProperties === true || required.includes(key),
  );
  return Object.fromEntries(shown.map(([key, inner]) => [key, exampleOf(inner)]));
}

function emptyOf({ type, additionalProperties }: Schema): unknown {
  if (typeof additionalProperties === 'object') return { service: exampleOf(additionalProperties) };
  if (type === 'array') return [];
  return type === 'object' ? {} : '…';
}
