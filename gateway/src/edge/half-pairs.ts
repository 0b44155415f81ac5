// Half a surrogate pair is no character: encoded on the way it would become another one. Bytes that
// are UTF-8 can have one only as an escape.
import { invalidField } from '@bmg/common/errors';
import type { Fields } from '../endpoints/endpoint';

/** Whole pairs do not match. */
const HALF_PAIR = /\p{Surrogate}/u;
const ESCAPES = ['\\ud', '\\uD'];

/** Throws INVALID_FIELD for the first text, or key, with half a surrogate pair. */
export function refuseHalfPairs(bytes: Buffer, body: Fields): void {
  if (!ESCAPES.some((escape) => bytes.includes(escape))) return;
  const field = findHalfPair(body, '');
  if (field === undefined) return;
  throw invalidField(field, 'has half of a surrogate pair, which is no character');
}

/** The path of the value; the reader has bounded its depth and its values. */
function findHalfPair(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return HALF_PAIR.test(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (HALF_PAIR.test(key)) return path === '' ? 'body' : path;
    const name = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const found = findHalfPair(member, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
