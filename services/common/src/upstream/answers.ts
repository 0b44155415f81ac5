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

interface Page {
  body: Json;
  /** The cursor of the next page; undefined on the last one. */
  next: string | undefined;
}

/** Requests one page; `after` is undefined for the first one. */
type AskPage = (after: string | undefined) => Promise<Json>;

/** The pages of a list in order, at most `pages_max` of them. */
export async function* eachPage(ask: AskPage, pages_max: number): AsyncGenerator<Page, void> {
  let after: string | undefined;
  for (let page = 0; page < pages_max; page += 1) {
    const body = await ask(after);
    const cursor = nextOf(body);
    // A cursor that repeats would be followed for ever.
    const next = cursor === after ? undefined : cursor;
    yield { body, next };
    if (next === undefined) return;
    after = next;
  }
}

export interface Pages {
  page_size: number;
  items_max: number;
  /** Finds the items in a page; by default those of its `data`. */
  items?: (body: Json) => Json[];
}

/** Ends lists whose pages come back half empty. */
const PAGES_MAX = 100;

/**
 * One answer with the items of all pages, up to `items_max`. It has a cursor in `paging` only if
 * items were left out.
 */
export async function allPages(
  ask: (page: { limit: number; after: string | undefined }) => Promise<Json>,
  { page_size, items_max, items = itemsOf }: Pages,
): Promise<Json> {
  const data: Json[] = [];
  const limit = (): number => Math.min(page_size, items_max - data.length);
  let after: string | undefined;
  for await (const { body, next } of eachPage(
    (cursor) => ask({ limit: limit(), after: cursor }),
    PAGES_MAX,
  )) {
    data.push(...items(body).slice(0, limit()));
    if (next === undefined) return { data };
    after = next;
    if (data.length >= items_max) break;
  }
  return { data, paging: { cursors: { after } } };
}

/**
 * The cursor of the next page. The last page may have a cursor too, but no `next`, which is a link
 * and may hold a token.
 */
export function nextOf(body: Json): string | undefined {
  const { next } = pagingOf(body);
  const { after } = cursorsOf(body);
  return next && after ? after : undefined;
}

/** The upstream's cursors, and nothing else of `paging`: its links may hold a token. */
export function cursorsOf(body: Json): { before: string | undefined; after: string | undefined } {
  const { cursors } = pagingOf(body);
  const { before, after } = isObject(cursors) ? cursors : {};
  return {
    before: typeof before === 'string' ? before : undefined,
    after: typeof after === 'string' ? after : undefined,
  };
}

const pagingOf = ({ paging }: Json): Json => (isObject(paging) ? paging : {});
