// Reads a list page by page as one sequence of its items.
import type { Client as Calls, FetchOptions } from 'openapi-fetch';
import { failure } from './errors';
import { LISTS } from './lists';
import type { paths } from './schema';

type Answer<P extends keyof Lists> = paths[P]['get'] extends {
  responses: { 200: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

/** One item of a list. */
export type ItemOf<P extends keyof Lists> =
  Answer<P> extends Record<Lists[P]['items'], ReadonlyArray<infer Item>> ? Item : never;

type Init<P extends keyof Lists> = FetchOptions<paths[P]['get']>;

/** The options of a `GET` of the path: `params` with its headers and a query to start from. */
export type ListOptions<P extends keyof Lists> =
  Record<string, never> extends Init<P> ? [options?: Init<P>] : [options: Init<P>];

interface Page {
  [items: string]: unknown;
  limit: number;
  offset?: number;
  next?: string | null;
  paging?: { cursors: { after: string | null } };
}

/** The query of the next page; undefined after the last one. */
type Next = (page: Page, items: number) => Record<string, unknown> | undefined;

const byOffset: Next = ({ offset = 0, limit }, items) =>
  items < limit ? undefined : { offset: offset + items };
const byCursor =
  (name: 'after' | 'cursor'): Next =>
  ({ next, paging }) => {
    const position = next ?? paging?.cursors.after;
    return position == null ? undefined : { [name]: position };
  };

/** Every list that has pages; the event log has `events()`. */
export type Lists = typeof LISTS;

interface AnyInit {
  params?: { query?: Record<string, unknown> };
}

/** Throws the gateway's error, with its fields, if a page cannot be read. */
export async function* readPages<P extends keyof Lists>(
  calls: Calls<paths, 'application/json'>,
  path: P,
  init: AnyInit = {},
): AsyncGenerator<ItemOf<P>, void> {
  const { items, page: parameter } = LISTS[path];
  const next = parameter === 'offset' ? byOffset : byCursor(parameter);
  // The types of a path that is a parameter are more than the compiler can follow.
  const get = calls.GET as unknown as (
    path: string,
    init: AnyInit,
  ) => Promise<{ data?: Page; error?: { error: { message: string } }; response: Response }>;
  for (let query = init.params?.query; ;) {
    const { data, error, response } = await get(path, {
      ...init,
      params: { ...init.params, ...(query && { query }) },
    });
    if (error || !data) throw failure(error, response);
    const page = data[items] as Array<ItemOf<P>>;
    yield* page;
    const more = next(data, page.length);
    if (!more) return;
    query = { ...init.params?.query, ...more };
  }
}
