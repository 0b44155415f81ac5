// Shapes the messages of services as the answers that the reference documents.
import type { Fields } from '../endpoint';
import type { Schema } from './schema';

type Shape = (value: unknown) => unknown;

const unchanged: Shape = (value) => value;

/**
 * Returns a function that gives a message exactly the keys of a record, in its order. A message has
 * no null: where the schema allows it, an absent field or an empty list becomes null. An absent
 * message is one whose fields are absent; any other absent field stays so.
 */
export const shaped = (schema: Schema): ((message: object | undefined) => Fields) =>
  shapeOf(schema) as (message: object | undefined) => Fields;

function shapeOf({ properties, items, required = [], additionalProperties }: Schema): Shape {
  if (items) {
    const shape = shapeOf(items);
    return shape === unchanged ? unchanged : (list) => (list as unknown[]).map(shape);
  }
  if (!properties || additionalProperties) return unchanged;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const shape = shapeOf(schema);
    const is_nullable = [schema.type].flat().includes('null');
    const is_message = !schema.items && shape !== unchanged && required.includes(name);
    return { name, shape, absent: is_nullable ? null : is_message ? shape({}) : undefined };
  });
  return (message = {}) => {
    const shown: Fields = {};
    for (const { name, shape, absent } of fields) {
      const value = (message as Fields)[name];
      const is_absent = value == null || (absent === null && Array.isArray(value) && !value.length);
      const field = is_absent ? absent : shape(value);
      if (field !== undefined) shown[name] = field;
    }
    return shown;
  };
}
