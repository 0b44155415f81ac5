// What a repeated request is told by: the partner's Idempotency-Key, and a fingerprint of what was asked.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { invalidField } from '@bmg/common/errors';
import type { Endpoint, Input } from '../endpoints/endpoint';
import { headerText } from '../auth/scope';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const HEADER = IDEMPOTENCY_KEY.toLowerCase();
/** Decisions, Repeating a request safely: 1 to 255 visible characters. */
const KEY = /^[\x21-\x7e]{1,255}$/;
/** Headers that decide on whose behalf the request acts. */
const TARGET_HEADERS = ['x-waba-id', 'x-phone-number-id'];

export const hasKey = (headers: IncomingHttpHeaders): boolean => headers[HEADER] !== undefined;

/** A key that is sent twice arrives joined by a comma and a space, and is refused. */
export function readKey(headers: IncomingHttpHeaders): string {
  const key = String(headers[HEADER]);
  if (KEY.test(key)) return key;
  throw invalidField(IDEMPOTENCY_KEY, 'must be 1 to 255 visible ASCII characters');
}

/**
 * The same for every request that asks for the same thing. The body is taken as it was understood, not as
 * it was spelled: a client that builds it anew may order its keys in another way.
 */
export function fingerprint(
  { verb, path }: Pick<Endpoint, 'verb' | 'path'>,
  { params, query, body }: Pick<Input, 'params' | 'query' | 'body'>,
  headers: IncomingHttpHeaders,
): string {
  const target = TARGET_HEADERS.map((name) => headerText(headers, name) ?? '');
  return createHash('sha256')
    .update(JSON.stringify([verb, path, params, target, query, body], sorted))
    .digest('base64url');
}

/** For JSON.stringify: objects with their keys in order. */
function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)),
  );
}
