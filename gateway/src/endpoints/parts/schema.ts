// JSON Schema with three keywords of ours, and its checking: is this the published shape? All faults are
// collected. A missing, null, blank or empty required key is MISSING_FIELDS, anything else INVALID_FIELD.
import { ApiError, invalidField, isErrorCode, missingFields } from '@bmg/common/errors';
import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: readonly unknown[];
  const?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
  default?: unknown;
  description?: string;
  /** In the documents the schema stands under this name, once. */
  title?: string;
  examples?: unknown[];
  additionalProperties?: boolean | Schema;
  /** Of an object: at least one of these keys must be filled. */
  requiredOneOf?: string[];
  /** What the message says when none of them is. */
  requiredOneOfMessage?: string;
  /** A paging limit above this is lowered to it instead of refused. */
  lowerTo?: number;
  /** A required text that may be empty: its emptiness means something. */
  mayBeBlank?: boolean;
  /** The code that a violation here has instead of INVALID_FIELD or MISSING_FIELDS. */
  errorCode?: string;
  /** What the message says instead of the validator's own words. */
  errorMessage?: string;
}

export interface Validator {
  /** Throws the ApiError of the first kind of fault; answers the value, with defaults filled in. */
  (value: unknown): Record<string, unknown>;
}

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
  'errorCode',
  'errorMessage',
]) {
  ajv.addKeyword({ keyword });
}

/** Texts of a query become what the schema says they are; what is no number stays a text and is refused. */
const WHOLE = /^-?\d{1,15}$/;

export function compile(schema: Schema, kind: 'body' | 'query'): Validator {
  const validate = ajv.compile({ type: 'object', ...schema });
  return (value) => {
    const fields = kind === 'query' ? readQuery(schema, value as Record<string, unknown>) : value;
    check(schema, fields, validate);
    return fields as Record<string, unknown>;
  };
}

function check(schema: Schema, value: unknown, validate: ValidateFunction): void {
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
    throw missingFields(missing, missing.length === message?.fields ? message.text : undefined);
  }
  if (valid) return;
  const [first] = errors.filter(({ keyword }) => keyword !== 'required');
  if (!first) return;
  const field = fieldOf(first);
  const others = [...new Set(errors.map(fieldOf))].filter((other) => other !== field);
  throw invalidField(field, problemOf(first), others.length > 0 ? { also: others } : {});
}

/** The keys that are required and not filled, wherever in the value. */
function findMissing(
  schema: Schema,
  value: unknown,
  path: string,
): { missing: string[]; message?: { text: string; fields: number } } {
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
  let message: { text: string; fields: number } | undefined;
  if (schema.requiredOneOf && !schema.requiredOneOf.some((key) => isFilled(object[key]))) {
    const fields = schema.requiredOneOf.map((key) => path + key);
    missing.push(...fields);
    if (schema.requiredOneOfMessage) {
      message = { text: schema.requiredOneOfMessage, fields: fields.length };
    }
  }
  for (const key of schema.required ?? []) {
    if (schema.properties?.[key]?.errorCode) continue;
    const value = object[key];
    if (value === '' && schema.properties?.[key]?.mayBeBlank) continue;
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

function problemOf(error: ErrorObject): string {
  const own = (error.parentSchema as Schema | undefined)?.errorMessage;
  if (own) return own;
  if (error.keyword === 'enum') {
    return `must be one of ${(error.params['allowedValues'] as unknown[]).join(', ')}`;
  }
  return error.message ?? 'is invalid';
}

function readQuery(schema: Schema, query: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const given = query[key];
    if (given === undefined || given === '') continue;
    if (Array.isArray(given)) throw invalidField(key, 'was given more than once');
    const text = String(given);
    const whole = property.type === 'integer' && WHOLE.test(text);
    const number = whole ? Number(text) : undefined;
    if (number !== undefined && property.lowerTo !== undefined) {
      fields[key] = Math.min(number, property.lowerTo);
    } else fields[key] = number ?? text;
  }
  return fields;
}
