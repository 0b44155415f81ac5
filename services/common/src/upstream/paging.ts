// Follows the cursors of the upstream's lists.
import { isObject, itemsOf, type Json } from './answers';

export interface Page {
  body: Json;
  /** The cursor of the next page; undefined on the last one. */
  next: string | undefined;
}

/** Requests one page; `after` is undefined for the first one. */
export type AskPage = (after: string | undefined) => Promise<Json>;

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
