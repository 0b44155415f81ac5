// Reads parameters as the platform does: from the body or, if it allows that, the query.
import type { Call } from '../core';
import { invalid, upstreamError } from '../errors';
import { isObject, type JsonObject } from '../types';

export { isObject };

export const SUCCESS: JsonObject = { success: true };

export function requireProduct(body: JsonObject): void {
  if (body['messaging_product'] === undefined) {
    throw invalid('The parameter messaging_product is required.');
  }
  if (body['messaging_product'] !== 'whatsapp') {
    throw invalid('Param messaging_product must be one of {WHATSAPP}');
  }
}

/** A value of the body or, if absent there, of the query string. */
export function parameter(call: Call, name: string): unknown {
  return call.body[name] ?? call.query.get(name) ?? undefined;
}

export function requiredText(call: Call, name: string): string {
  const value = parameter(call, name);
  if (value === undefined || value === '') throw invalid(`The parameter ${name} is required.`);
  if (typeof value !== 'string') throw invalid(`Param ${name} must be a string`);
  return value;
}

/** Throws code 100 unless the value is one of the list. */
export function requireOneOf(value: unknown, name: string, allowed: readonly string[]): void {
  if (!allowed.includes(String(value))) {
    throw invalid(`Param ${name} must be one of {${allowed.join(', ')}}`);
  }
}

/** A text inside a message: throws 131008 when missing, 131009 when invalid. */
export function messageText(
  value: unknown,
  name: string,
  length_max: number,
  optional = false,
): string | undefined {
  if (value === undefined || value === null) {
    if (optional) return undefined;
    throw upstreamError(131008, `The parameter ${name} is required.`);
  }
  if (typeof value !== 'string') throw upstreamError(131009, `${name} must be a string`);
  if (value.length === 0 && !optional) {
    throw upstreamError(131008, `The parameter ${name} is required.`);
  }
  if (value.length > length_max) {
    throw upstreamError(131009, `${name} must be at most ${length_max} characters long`);
  }
  return value;
}

/** Checks texts inside a message: path → maximum length; a path with `?` may be absent. */
export function checkTexts(
  content: unknown,
  prefix: string,
  lengths: Readonly<Record<string, number>>,
): void {
  for (const [path, length_max] of Object.entries(lengths)) {
    const name = path.replace('?', '');
    const value = name
      .split('.')
      .reduce((part, key) => (isObject(part) ? part[key] : undefined), content);
    messageText(value, `${prefix}.${name}`, length_max, name !== path);
  }
}

const CALLBACK_DATA_MAX = 512;

export function callbackDataOf({ biz_opaque_callback_data: data }: JsonObject): string | null {
  return messageText(data, 'biz_opaque_callback_data', CALLBACK_DATA_MAX, true) ?? null;
}

export function truth(value: unknown): boolean | undefined {
  if (value === true || value === 'true' || value === '1') return true;
  if (value === false || value === 'false' || value === '0') return false;
  return undefined;
}
