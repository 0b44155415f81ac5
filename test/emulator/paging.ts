// Cursor paging. A cursor names an element, so a list that changes between two pages neither
// repeats nor skips the remaining elements.
import { invalid, type UpstreamError } from './errors';
import type { JsonObject } from './types';

const CURSOR_PREFIX = 'QVFIU';

export interface PagingRules {
  size_default?: number;
  size_max?: number;
  /** Most edges lower a limit that is too large; a few refuse it. */
  refuse_above_max?: boolean;
  bad_cursor?: () => UpstreamError;
}

export interface Page<T> {
  items: T[];
  paging: JsonObject | null;
}

export function page<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  request: { query: URLSearchParams; url: string },
  rules: PagingRules = {},
): Page<T> {
  const limit = limitOf(request.query, rules);
  const { start, end } = window(items, keyOf, request.query, limit, rules);
  const shown = items.slice(start, end);
  const first = shown[0];
  const last = shown[shown.length - 1];
  if (first === undefined || last === undefined) return { items: shown, paging: null };
  const before = encode(start, keyOf(first));
  const after = encode(end - 1, keyOf(last));
  return {
    items: shown,
    paging: {
      cursors: { before, after },
      ...(end < items.length ? { next: link(request, limit, 'after', after) } : {}),
      ...(start > 0 ? { previous: link(request, limit, 'before', before) } : {}),
    },
  };
}

export function listAnswer<T>(shown: Page<T>, toItem: (item: T) => unknown): JsonObject {
  return {
    data: shown.items.map(toItem),
    ...(shown.paging ? { paging: shown.paging } : {}),
  };
}

function limitOf(query: URLSearchParams, rules: PagingRules): number {
  const size_max = rules.size_max ?? 100;
  const text = query.get('limit');
  if (text === null || text === '') return Math.min(rules.size_default ?? 25, size_max);
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1) {
    throw invalid('Param limit must be a positive integer');
  }
  if (limit > size_max && rules.refuse_above_max) {
    throw invalid(`Param limit must be less than or equal to ${size_max}`);
  }
  return Math.min(limit, size_max);
}

function window<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  query: URLSearchParams,
  limit: number,
  rules: PagingRules,
): { start: number; end: number } {
  const after = query.get('after');
  if (after) {
    const { index, found } = locate(items, keyOf, decode(after, rules));
    const start = found ? index + 1 : index;
    return { start, end: Math.min(items.length, start + limit) };
  }
  const before = query.get('before');
  if (before) {
    const { index } = locate(items, keyOf, decode(before, rules));
    return { start: Math.max(0, index - limit), end: index };
  }
  return { start: 0, end: Math.min(items.length, limit) };
}

function locate<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  cursor: { index: number; key: string },
): { index: number; found: boolean } {
  const index = items.findIndex((item) => keyOf(item) === cursor.key);
  // The element was deleted: its successor has moved to its position.
  return index >= 0
    ? { index, found: true }
    : { index: Math.min(cursor.index, items.length), found: false };
}

function encode(index: number, key: string): string {
  return CURSOR_PREFIX + Buffer.from(`${index}:${key}`).toString('base64url');
}

function decode(cursor: string, rules: PagingRules): { index: number; key: string } {
  const text = cursor.startsWith(CURSOR_PREFIX)
    ? Buffer.from(cursor.slice(CURSOR_PREFIX.length), 'base64url').toString()
    : '';
  const match = /^(\d+):(.*)$/s.exec(text);
  if (!match) throw (rules.bad_cursor ?? (() => invalid('Invalid cursor')))();
  return { index: Number(match[1]), key: match[2] as string };
}

function link(
  request: { query: URLSearchParams; url: string },
  limit: number,
  side: 'after' | 'before',
  cursor: string,
): string {
  const query = new URLSearchParams(request.query);
  query.delete('after');
  query.delete('before');
  query.set('limit', String(limit));
  query.set(side, cursor);
  return `${request.url}?${query.toString()}`;
}
