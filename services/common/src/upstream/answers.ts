// Reads the upstream's JSON answers: the few shapes that they share, and the error for any other.
import { ApiError } from '../errors';

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of a list answer. Throws UPSTREAM_ERROR if there is no list. */
export function itemsOf({ data }: Json): Json[] {
  if (!Array.isArray(data)) throw unusable('a list');
  return (data as unknown[]).filter(isObject);
}

/** Some edges spell success as a text. An answer without it has succeeded by its status. */
export function succeeded(answer: Json): Record<string, never> {
  const { success } = answer;
  if (success !== undefined && success !== true && success !== 'true') {
    throw new ApiError('UPSTREAM_ERROR', 'the upstream answered without confirming success');
  }
  return {};
}

/** A copy of the answer without the named keys. */
export function without(answer: Json, ...names: string[]): Json {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name)));
}

/** An upstream 200 whose body cannot be used. */
export const unusable = (what: string, details?: object): ApiError =>
  new ApiError('UPSTREAM_ERROR', `the upstream answered without ${what}`, { details });

/** The digits of an id that the upstream wrote as text or as a number; undefined without one. */
export function idOf(id: unknown): string | undefined {
  if (typeof id === 'string') return id === '' ? undefined : id;
  return typeof id === 'number' || typeof id === 'bigint' ? String(id) : undefined;
}
