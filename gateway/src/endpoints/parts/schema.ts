// Request schemas: JSON Schema with keywords of our own, compiled to validators. A validator
// reports all faults of one kind together, up to a bound: required fields that are absent, null,
// blank or empty are MISSING_FIELDS, any other fault is INVALID_FIELD, unless the schema names
// another code.
import { ApiError, invalidField, isErrorCode, missingFields } from '@bmg/common/errors';
import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { XStatic } from 'typebox/schema' with { 'resolution-mode': 'import' };
import { closest } from './closest';

/** The keywords that do not change the static type of a value. */
export interface Keywords {
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
  /** A credential: no answer has it. */
  writeOnly?: boolean;
  default?: unknown;
  description?: string;
  /** Name of the schema under `components` in the OpenAPI document. */
  title?: string;
  examples?: readonly unknown[];
  // Published only: the validators of services have clearer messages.
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  /**
   * Rules between fields go here: beside `properties`, generators of clients read anyOf as a union
   * of types.
   */
  allOf?: readonly Schema[];
  if?: Schema;
  then?: Schema;
  propertyNames?: Schema;
  contains?: Schema;
  not?: Schema;
  minProperties?: number;
  maxProperties?: number;
  /** At least one of these keys must be present and not blank. */
  requiredOneOf?: readonly string[];
  /** Error message if none of them is. */
  requiredOneOfMessage?: string;
  /** A paging limit above this is lowered to it instead of rejected. */
  lowerTo?: number;
  /** A required string that may be empty, because an empty one has a meaning. */
  mayBeBlank?: boolean;
  /** A required key that is not needed beside this one. */
  replacedBy?: string;
  /** Error code of a violation, instead of INVALID_FIELD or MISSING_FIELDS. */
  errorCode?: string;
  /** Error message of a violation, instead of the generated one. */
  errorMessage?: string;
  /** The schema in the OpenAPI document of a value that is checked elsewhere. */
  published?: Schema;
}

export interface Schema extends Keywords {
  type?: string | readonly string[];
  properties?: Properties;
  required?: readonly string[];
  items?: Schema;
  enum?: readonly unknown[];
  const?: unknown;
  additionalProperties?: boolean | Schema;
}

export type Properties = Readonly<Record<string, Schema>>;

/** A schema whose static type is that of `type`. */
export interface Typed<T extends 'string' | 'integer' | 'boolean'> extends Keywords {
  type: T;
}

export interface ObjectSchema<
  P extends Properties = Properties,
  R extends readonly string[] = readonly string[],
> extends Keywords {
  type: 'object';
  properties: P;
  required: R;
}

/**
 * The static type of the values that a schema accepts. Keys that the schema does not name are not
 * in it; of a schema that is not known before run time, only that it accepts objects.
 */
export type Static<S extends Schema> = Schema extends S ? Record<string, unknown> : XStatic<S>;

/** Returns the value with defaults filled in. Throws ApiError. */
export type Validator<T = Record<string, unknown>> = (value: unknown) => T;

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  useDefaults: true,
  allowUnionTypes: true,
  verbose: true,
});
addFormats(ajv);
for (const keyword of [
  'requiredOneOf',
  'requiredOneOfMessage',
  'lowerTo',
  'mayBeBlank',
  'replacedBy',
  'errorCode',
  'errorMessage',
  'published',
]) {
  ajv.addKeyword({ keyword });
}

/** Faults named in one answer: enough to see a pattern. */
export const FAULTS_MAX = 20;

/** The largest whole number in a query: 15 digits. */
export const WHOLE_MAX = 999_999_999_999_999;

/**
 * A query value of an integer field is converted if it matches; otherwise it stays a string and is
 * rejected.
 */
const WHOLE = /^-?\d{1,15}$/;

export function compile<S extends Schema>(schema: S, kind: 'body' | 'query'): Validator<Static<S>> {
  const validate = ajv.compile({ type: 'object', ...schema });
  return (value) => {
    const fields = kind === 'query' ? readQuery(schema, value as Record<string, unknown>) : value;
    check(schema, fields, validate);
    return fields as Static<S>;
  };
}

function check(schema: Schema, value: unknown, validate: ValidateFunction): void {
  checkLengths(schema, value, '');
  const valid = validate(value);
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  const coded = errors.find((error) => codeOf(schema, error) !== undefined);
  if (coded) {
    const code = codeOf(schema, coded) as string;
    if (isErrorCode(code)) {
      const field = fieldOf(coded);
      throw new ApiError(code, messageOf(coded, field), { details: { field } });
    }
  }
  const { missing, message } = findMissing(schema, value, '');
  if (missing.length > 0) {
    const named = missing.slice(0, FAULTS_MAX);
    throw missingFields(named, missingText(named, message) + typos(schema, value, named));
  }
  if (valid) return;
  const [first] = errors.filter(({ keyword }) => keyword !== 'required');
  if (!first) return;
  const field = fieldOf(first);
  const others = [...new Set(errors.map(fieldOf))].filter((other) => other !== field);
  others.splice(FAULTS_MAX - 1);
  throw invalidField(field, problemOf(first), others.length > 0 ? { also: others } : {});
}

/**
 * Array lengths are checked before any item, because ajv collects the faults of all items: a body
 * of a million wrong ones would stop the process for seconds.
 */
function checkLengths({ maxItems, items, properties }: Schema, value: unknown, path: string): void {
  if (Array.isArray(value)) {
    if (maxItems !== undefined && value.length > maxItems) {
      throw invalidField(path, `must have at most ${maxItems} items`);
    }
    if (!items?.properties && !items?.items) return;
    value.forEach((item, index) => checkLengths(items, item, `${path}[${index}]`));
  } else if (properties && typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(properties)) {
      checkLengths(inner, (value as Record<string, unknown>)[key], path ? `${path}.${key}` : key);
    }
  }
}

interface OneOf {
  text: string;
  fields: string[];
}

/** Alternatives are not reported as required. */
function missingText(missing: string[], oneOf: OneOf | undefined): string {
  const required = missing.filter((field) => !oneOf?.fields.includes(field));
  return [
    ...(oneOf ? [oneOf.text] : []),
    ...(required.length > 0 ? [`missing required fields: ${required.join(', ')}`] : []),
  ].join('; ');
}

/** Unknown keys that look like a missing one beside them. */
function typos(schema: Schema, value: unknown, missing: string[]): string {
  const found = missing.flatMap((field) => {
    const key = /[^.\]]+$/.exec(field)?.[0] ?? field;
    const path = field.slice(0, -key.length);
    const given = closest(key, unknownKeys(schema, value, path));
    return given === undefined ? [] : [`did you mean ${field} by ${path}${given}?`];
  });
  return found.length > 0 ? `: ${found.join(' ')}` : '';
}

/** The keys that the schema does not know, of the object at a path such as `contacts[3].`. */
function unknownKeys(schema: Schema, value: unknown, path: string): string[] {
  let known: Schema | undefined = schema;
  let object = value;
  for (const part of path.match(/[^.[\]]+/g) ?? []) {
    known = Array.isArray(object) ? known?.items : known?.properties?.[part];
    object = (object as Record<string, unknown>)[part];
  }
  return Object.keys(object as object)
    .filter((key) => !Object.hasOwn(known?.properties ?? {}, key))
    .slice(0, FAULTS_MAX);
}

/** The required keys that are absent or blank, at any depth. */
function findMissing(
  schema: Schema,
  value: unknown,
  path: string,
): { missing: string[]; message?: OneOf } {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return { missing: [] };
    const list = path.replace(/\.$/, '');
    return {
      missing: value.flatMap(
        (item, index) => findMissing(items, item, `${list}[${index}].`).missing,
      ),
    };
  }
  if (typeof value !== 'object' || value === null) return { missing: [] };
  const object = value as Record<string, unknown>;
  const missing: string[] = [];
  let message: OneOf | undefined;
  if (schema.requiredOneOf && !schema.requiredOneOf.some((key) => isFilled(object[key]))) {
    const fields = schema.requiredOneOf.map((key) => path + key);
    missing.push(...fields);
    if (schema.requiredOneOfMessage) {
      message = { text: schema.requiredOneOfMessage, fields };
    }
  }
  for (const key of schema.required ?? []) {
    const { errorCode, mayBeBlank, replacedBy } = schema.properties?.[key] ?? {};
    if (errorCode || (replacedBy && isFilled(object[replacedBy]))) continue;
    const value = object[key];
    if (value === '' && mayBeBlank) continue;
    if (!isFilled(value)) missing.push(path + key);
  }
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    missing.push(...findMissing(inner, object[key], `${path}${key}.`).missing);
  }
  return { missing, ...(message && { message }) };
}

const isFilled = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  !(typeof value === 'string' && value.trim() === '') &&
  !(Array.isArray(value) && value.length === 0);

/** `/contacts/3/recipient` → `contacts[3].recipient`. */
function fieldOf(error: ErrorObject): string {
  const path =
    error.keyword === 'required'
      ? `${error.instancePath}/${String(error.params['missingProperty'])}`
      : error.instancePath;
  const field = path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : text ? `${text}.${part}` : part),
      '',
    );
  return field || 'body';
}

function codeOf(schema: Schema, error: ErrorObject): string | undefined {
  if (error.keyword === 'required') {
    const parent = error.parentSchema as Schema | undefined;
    return (
      parent?.properties?.[String(error.params['missingProperty'])]?.errorCode ?? schema.errorCode
    );
  }
  return (error.parentSchema as Schema | undefined)?.errorCode;
}

function messageOf(error: ErrorObject, field: string): string {
  const parent = error.parentSchema as Schema | undefined;
  const own =
    error.keyword === 'required'
      ? parent?.properties?.[String(error.params['missingProperty'])]?.errorMessage
      : parent?.errorMessage;
  return own ?? `${field} ${problemOf(error)}`;
}

/** Plain wording of the faults that occur; ajv's own wording for any other keyword. */
const PROBLEMS: Readonly<Record<string, (params: Record<string, unknown>) => string>> = {
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).join(', ')}`,
  type: ({ type }) => `must be ${[type].flat().map(typeName).join(' or ')}`,
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minLength: ({ limit }) => `must have at least ${String(limit)} characters`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

const typeName = (type: unknown): string => TYPES[String(type)] ?? String(type);

function problemOf(error: ErrorObject): string {
  const own = (error.parentSchema as Schema | undefined)?.errorMessage;
  if (own) return own;
  return PROBLEMS[error.keyword]?.(error.params) ?? error.message ?? 'is invalid';
}

function readQuery(schema: Schema, query: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const given = query[key];
    if (given === undefined) continue;
    if (given === '') throw invalidField(key, 'must not be empty');
    if (Array.isArray(given)) throw invalidField(key, 'must be sent only once');
    const text = String(given);
    const whole = property.type === 'integer' && WHOLE.test(text);
    const number = whole ? Number(text) : undefined;
    if (number !== undefined && property.lowerTo !== undefined) {
      fields[key] = Math.min(number, property.lowerTo);
    } else fields[key] = number ?? text;
  }
  return fields;
}
