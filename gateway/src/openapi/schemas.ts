// Translates schemas for the OpenAPI document: our own keywords become standard JSON Schema, or are
// removed.
import { atLeastOne } from '../endpoints/parts/rules';
import { WHOLE_MAX, type Schema } from '../endpoints/parts/schema';

export type Json = Record<string, unknown>;

export interface Reference {
  $ref: string;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Json;
}

/** The schemas under `components`, by name. */
export class SharedSchemas {
  readonly schemas: Record<string, Json> = {};

  add(name: string, schema: Json): Reference {
    const known = this.schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas are called ${name}`);
    }
    this.schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }
}

interface Options {
  /** Takes the schemas with a title. If it is absent, they stay inline. */
  shared?: SharedSchemas;
  /** For request bodies: required fields must not be blank either. */
  request?: boolean;
}

/** The schema, or a reference to it if it has a title. */
export function describeSchema(schema: Schema, options: Options): Json | Reference {
  const { title, type } = { ...schema, ...schema.published };
  const { shared } = options;
  if (title === undefined || !shared) return plainSchema(schema, options);
  const types = [type ?? []].flat();
  if (!types.includes('null')) return shared.add(title, plainSchema(schema, options));
  // Generators expect the null beside a reference, not inside the component.
  const kinds = types.filter((one) => one !== 'null');
  const { examples, ...component } = plainSchema(schema, options);
  component['type'] = kinds.length === 1 ? kinds[0] : kinds;
  return {
    anyOf: [shared.add(title, component), { type: 'null' }],
    // They may be null too.
    ...(examples !== undefined && { examples }),
  };
}

/** The schema inline, even if it has a title. */
export function plainSchema({ published, ...schema }: Schema, options: Options): Json {
  const {
    type,
    properties,
    required = [],
    items,
    additionalProperties,
    maximum,
    allOf,
    anyOf,
    requiredOneOf,
    requiredOneOfMessage: _requiredOneOfMessage,
    lowerTo,
    mayBeBlank: _mayBeBlank,
    replacedBy: _replacedBy,
    errorCode: _errorCode,
    errorMessage: _errorMessage,
    ...rest
  } = { ...schema, ...published };
  const rules = allOf ?? (requiredOneOf && [atLeastOne(requiredOneOf)]);
  const inner = (key: string, property: Schema): Schema =>
    options.request && required.includes(key) ? filled(property) : property;
  return {
    // Alternatives have types of their own.
    ...(type !== undefined && !anyOf && { type }),
    ...rest,
    // A value above `lowerTo` is lowered, not refused.
    ...(maximum !== undefined && { maximum: lowerTo === undefined ? maximum : WHOLE_MAX }),
    ...(items && { items: describeSchema(items, options) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, property]) => [
          key,
          describeSchema(inner(key, property), options),
        ]),
      ),
    }),
    ...(required.length > 0 && { required }),
    ...(rules && { allOf: rules }),
    ...(anyOf && { anyOf: anyOf.map((one) => describeSchema(one, options)) }),
    // Generators of clients read an object without properties as one that has none.
    ...(options.request && !anyOf && isFreeForm(schema) && { additionalProperties: true }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object'
          ? describeSchema(additionalProperties, options)
          : additionalProperties,
    }),
  };
}

const isFreeForm = ({ type, properties }: Schema): boolean =>
  [type].flat().includes('object') && !properties;

function filled(schema: Schema): Schema {
  if (schema.mayBeBlank || schema.enum) return schema;
  if (schema.type === 'string' && !schema.pattern)
    return { minLength: 1, pattern: '\\S', ...schema };
  return schema.type === 'array' ? { minItems: 1, ...schema } : schema;
}
