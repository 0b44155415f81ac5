// Turns a contact's `params` into the parameters of its message. The service's README lists the
// rules. No I/O.
import { invalidField } from '@bmg/common/errors';
import type { Param, Params } from '../ground/types';

export type Json = Record<string, unknown>;

/** More than fits into a body text of 1,024 characters. */
const PARAMS_MAX = 100;
const PARAMS_BYTES_MAX = 32 * 1024;
const NUMBER = /^[1-9]\d{0,2}$/;
const NAME = /^[A-Za-z][\w.-]{0,63}$/;
const PLACEHOLDER = /\{\{\s*([\w.-]+)\s*\}\}/g;
const ONLY_PLACEHOLDER = /^\s*\{\{\s*([\w.-]+)\s*\}\}\s*$/;

/** Checks the params of one contact; null when there are none. Throws INVALID_FIELD for `where`. */
export function readParams(given: Json | undefined, where: string): Params | null {
  const entries = Object.entries(given ?? {});
  if (entries.length === 0) return null;
  if (entries.length > PARAMS_MAX) throw invalidField(where, `has more than ${PARAMS_MAX} values`);
  const params: Params = {};
  for (const [key, value] of entries) {
    if (!NUMBER.test(key) && !NAME.test(key)) {
      throw invalidField(where, 'has a key that is neither the number nor the name of a variable');
    }
    params[key] = readParam(value, `${where}.${key}`);
  }
  if (Buffer.byteLength(JSON.stringify(params)) > PARAMS_BYTES_MAX) {
    throw invalidField(where, `is larger than ${PARAMS_BYTES_MAX} bytes`);
  }
  return params;
}

function readParam(value: unknown, where: string): Param {
  if (typeof value === 'string') {
    // The upstream refuses an empty text.
    if (value.trim() === '') throw invalidField(where, 'must not be blank');
    return value;
  }
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  if (isObject(value) && typeof value['type'] === 'string') return value;
  throw invalidField(where, 'must be a text, a number, or a parameter object with a type');
}

/** `components` are those of the broadcast; only their placeholders differ between contacts. */
export function createFiller(components: readonly Json[]) {
  const used = new Set<string>();
  /** Placeholders inside a longer text, which take strings only. */
  const within = new Set<string>();
  collect(components, used, within);
  const fixed = bodyOf(components).parameters;
  const unusedOf = (params: Params | null): Array<[string, Param]> =>
    Object.entries(params ?? {}).filter(([key]) => !used.has(key));
  return {
    /** Returns how many parameters the body gets. Throws INVALID_FIELD for `where` if some lack. */
    check(params: Params | null, where: string): number {
      const missing = [...used].filter((key) => ownParam(params, key) === undefined);
      if (missing.length > 0) {
        throw invalidField(
          where,
          `lacks ${missing.join(', ')}, which template_components requires`,
        );
      }
      const object = [...within].find((key) => typeof ownParam(params, key) !== 'string');
      if (object !== undefined) {
        throw invalidField(`${where}.${object}`, 'must be a string when embedded in text');
      }
      const rest = unusedOf(params);
      return rest.length === 0 ? fixed.length : placed(fixed, rest, where).length;
    },
    fill(params: Params | null): Json[] {
      const filled = used.size === 0 ? [...components] : (replace(components, params) as Json[]);
      const rest = unusedOf(params);
      if (rest.length === 0) return filled;
      const { at, body, parameters } = bodyOf(filled);
      const full = {
        ...(body ?? { type: 'body' }),
        parameters: placed(parameters, rest, 'params'),
      };
      return at < 0 ? [...filled, full] : filled.with(at, full);
    },
  };
}

export type Filler = ReturnType<typeof createFiller>;

const ownParam = (params: Params | null, key: string): Param | undefined =>
  params && Object.hasOwn(params, key) ? params[key] : undefined;

function bodyOf(components: readonly Json[]): {
  at: number;
  body: Json | undefined;
  parameters: Json[];
} {
  const at = components.findIndex(({ type }) => String(type).toLowerCase() === 'body');
  const body = components[at];
  const parameters = Array.isArray(body?.['parameters']) ? (body['parameters'] as Json[]) : [];
  return { at, body, parameters };
}

function collect(value: unknown, used: Set<string>, within: Set<string>): void {
  if (typeof value === 'string') {
    for (const match of value.matchAll(PLACEHOLDER)) {
      used.add(match[1] as string);
      within.add(match[1] as string);
    }
  } else if (Array.isArray(value)) for (const item of value) collect(item, used, within);
  else if (isObject(value)) {
    const whole = wholeKey(value);
    if (whole !== undefined) used.add(whole);
    for (const [name, item] of Object.entries(value)) {
      if (whole === undefined || name !== 'text') collect(item, used, within);
    }
  }
}

/** The key of a text parameter that is only a placeholder: any kind of parameter can replace it. */
const wholeKey = (value: Json): string | undefined =>
  value['type'] === 'text' && typeof value['text'] === 'string'
    ? ONLY_PLACEHOLDER.exec(value['text'])?.[1]
    : undefined;

/** Replaces every `{{key}}`. A text that is only a placeholder can become a whole parameter. */
function replace(value: unknown, params: Params | null): unknown {
  if (typeof value === 'string') {
    return value.replace(PLACEHOLDER, (match, key: string) => {
      const text = ownParam(params, key);
      return typeof text === 'string' ? text : match;
    });
  }
  if (Array.isArray(value)) return value.map((item) => replace(item, params));
  if (!isObject(value)) return value;
  const key = wholeKey(value);
  const whole = key === undefined ? undefined : ownParam(params, key);
  if (typeof whole === 'object') {
    const { parameter_name } = value;
    return { ...(parameter_name !== undefined && { parameter_name }), ...whole };
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, replace(item, params)]),
  );
}

/** Adds params without a placeholder to the body: by number at that place, by name at the end. */
function placed(fixed: Json[], rest: Array<[string, Param]>, where: string): Json[] {
  const numbers = rest.filter(([key]) => NUMBER.test(key));
  if (numbers.length > 0 && numbers.length < rest.length) {
    throw invalidField(where, 'mixes numbers and names of variables');
  }
  return numbers.length > 0 ? byNumber(fixed, numbers, where) : byName(fixed, rest);
}

function byNumber(fixed: Json[], numbers: Array<[string, Param]>, where: string): Json[] {
  const parameters: Array<Json | undefined> = [...fixed];
  for (const [key, value] of numbers) parameters[Number(key) - 1] = parameterOf(value);
  const gap = Array.from(parameters).findIndex((parameter) => parameter === undefined);
  if (gap >= 0)
    throw invalidField(where, `lacks ${gap + 1}: variables are numbered from 1 without a gap`);
  return parameters as Json[];
}

function byName(fixed: Json[], names: Array<[string, Param]>): Json[] {
  const given = new Map(names);
  const kept = fixed.map((parameter) => {
    const name = String(parameter['parameter_name']);
    const value = given.get(name);
    if (value === undefined) return parameter;
    given.delete(name);
    return parameterOf(value, name);
  });
  return [...kept, ...[...given].map(([name, value]) => parameterOf(value, name))];
}

const parameterOf = (value: Param, parameter_name?: string): Json => ({
  ...(parameter_name !== undefined && { parameter_name }),
  ...(typeof value === 'string' ? { type: 'text', text: value } : value),
});

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
