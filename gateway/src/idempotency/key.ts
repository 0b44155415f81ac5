// Identifies a repeated request: the partner's Idempotency-Key, and a fingerprint of the request.
import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { invalidField } from '@bmg/common/errors';
import { inTurns } from '@bmg/common/lifecycle';
import type { Endpoint, Fields, Input } from '../endpoints/endpoint';
import { headerText } from '../auth/scope';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const HEADER = IDEMPOTENCY_KEY.toLowerCase();
/** Contract 15.1: 1 to 255 visible characters. */
const KEY = /^[\x21-\x7e]{1,255}$/;
/** The headers that select the number the request acts for. */
const TARGET_HEADERS = ['x-waba-id', 'x-phone-number-id'];

export const hasKey = (headers: IncomingHttpHeaders): boolean => headers[HEADER] !== undefined;

/** Throws for a malformed key, also for two: they arrive joined by a comma and a space. */
export function readKey(headers: IncomingHttpHeaders): string {
  const key = String(headers[HEADER]);
  if (KEY.test(key)) return key;
  throw invalidField(IDEMPOTENCY_KEY, 'must be 1 to 255 visible ASCII characters');
}

/** Equal for equal requests. Clients may vary the order of keys, which does not count. */
export async function fingerprint(
  { verb, path }: Pick<Endpoint, 'verb' | 'path'>,
  { params, query, body }: Pick<Input, 'params' | 'query' | 'body'>,
  headers: IncomingHttpHeaders,
): Promise<string> {
  const target = TARGET_HEADERS.map((name) => headerText(headers, name) ?? '');
  const hash = createHash('sha256');
  const of_request = JSON.stringify([verb, path, params, target, query], sortKeys);
  hash.update(`${of_request.slice(0, -1)},{`);
  const members = Object.entries(sortKeys('', body) as Fields).filter(
    ([, value]) => value !== undefined,
  );
  for (const [place, [key, value]] of members.entries()) {
    hash.update(`${place > 0 ? ',' : ''}${JSON.stringify(key)}:`);
    if (Array.isArray(value)) await addItems(hash, value);
    else hash.update(JSON.stringify(value, sortKeys));
  }
  return hash.update('}]').digest('base64url');
}

/** Yields to other requests in between: a list may have 10,000 contacts. */
async function addItems(hash: Hash, items: unknown[]): Promise<void> {
  hash.update('[');
  await inTurns(items, (item, place) => {
    hash.update(`${place > 0 ? ',' : ''}${JSON.stringify(item, sortKeys)}`);
  });
  hash.update(']');
}

/** A replacer for JSON.stringify that sorts the keys of objects. */
function sortKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)),
  );
}
