// Shared by the control handlers: the type of a call, errors, and typed reading of body fields.
import type { Core } from './core';
import { isObject } from './operations/parameters';
import type { Account, BusinessNumber, JsonObject } from './types';

export interface ControlCall {
  core: Core;
  /** Path segments after `/control`. */
  parts: readonly string[];
  query: URLSearchParams;
  body: JsonObject;
}

export interface ControlRoute {
  method: string;
  /** Relative to `/control/`; `*` matches one segment. */
  path: string;
  status?: number;
  handler: (call: ControlCall) => JsonObject | Promise<JsonObject>;
}

export class ControlError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function bad(message: string): ControlError {
  return new ControlError(400, message);
}

export function text(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw bad(`${name} must be a string`);
  return value;
}

export function number(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || Number.isNaN(value)) throw bad(`${name} must be a number`);
  return value;
}

export function flag(body: JsonObject, name: string): boolean | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'boolean') throw bad(`${name} must be a boolean`);
  return value;
}

export function texts(body: JsonObject, name: string): string[] | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw bad(`${name} must be an array of strings`);
  }
  return value;
}

export function object(body: JsonObject, name: string): JsonObject | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(`${name} must be an object`);
  }
  return value as JsonObject;
}

export function onlyKeys(body: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(body).filter((key) => !known.includes(key));
  if (unknown.length > 0) {
    throw bad(`Unknown keys: ${unknown.join(', ')}. Known keys: ${known.join(', ')}`);
  }
}

export function theNumber({ core }: ControlCall, id: string | undefined): BusinessNumber {
  const found = id === undefined ? undefined : core.state.numbers.get(id);
  if (!found) throw new ControlError(404, `phone_number_id ${id ?? '(missing)'} does not exist`);
  return found;
}

export function theAccount({ core }: ControlCall, id: string | undefined): Account {
  const found = id === undefined ? undefined : core.state.accounts.get(id);
  if (!found) throw new ControlError(404, `waba_id ${id ?? '(missing)'} does not exist`);
  return found;
}

/** An array of objects; empty when the key is absent. */
export function listOf(body: JsonObject, name: string): JsonObject[] {
  const value = body[name] ?? [];
  if (!Array.isArray(value) || !value.every(isObject)) {
    throw bad(`${name} must be an array of objects`);
  }
  return value;
}

export function within(value: number, name: string, max: number): number {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw bad(`${name} must be a whole number from 1 to ${max}`);
  }
  return value;
}
