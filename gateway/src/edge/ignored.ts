// The keys of a request that its row ignores, for the header `X-Service-Ignored` (contract 3.8). A
// walker is built once from each schema; it visits only the keys that a request has.
import type { Context } from 'koa';
import type { Endpoint, Fields } from '../endpoints/endpoint';
import type { Schema } from '../endpoints/parts/schema';

export const IGNORED_HEADER = 'X-Service-Ignored';
/** Paths that are named, the length of each, and of all of them. */
const PATHS_MAX = 20;
const PATH_MAX = 64;
const HEADER_BYTES_MAX = 1_024;

const PLAIN = /[\w.[\]-]/;
const SEPARATOR = ', ';

/** Adds the keys of a value that its schema does not have. */
type Walk = (value: unknown, ignored: IgnoredKeys) => void;

/** Distinct keys, by the path of their object. A body may repeat one key in ten thousand items. */
export class IgnoredKeys {
  readonly #keys = new Map<string, Set<string>>();
  #count = 0;

  isFull(): boolean {
    return this.#count === PATHS_MAX;
  }

  add(path: string, key: string): void {
    let keys = this.#keys.get(path);
    if (!keys) this.#keys.set(path, (keys = new Set()));
    // The rest of a longer key is never shown.
    const shown = key.length > PATH_MAX ? key.slice(0, PATH_MAX) : key;
    if (keys.has(shown)) return;
    keys.add(shown);
    this.#count += 1;
  }

  /** The value of the header; undefined if no key was ignored. */
  header(): string | undefined {
    const paths = new Set<string>();
    for (const [path, keys] of this.#keys) for (const key of keys) paths.add(encode(path + key));
    let header = '';
    for (const path of paths) {
      const longer = header === '' ? path : header + SEPARATOR + path;
      if (longer.length > HEADER_BYTES_MAX) break;
      header = longer;
    }
    return header === '' ? undefined : header;
  }
}

/** A character that the header may not have becomes the escapes of its bytes, all or none. */
function encode(path: string): string {
  let encoded = '';
  for (const character of path) {
    const piece = PLAIN.test(character) ? character : escape(character);
    if (encoded.length + piece.length > PATH_MAX) break;
    encoded += piece;
  }
  return encoded;
}

const escape = (character: string): string =>
  [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');

/** Undefined if the row ignores no key of such a value: it has none, or is passed on unchanged. */
function walkerOf(schema: Schema, path = ''): Walk | undefined {
  const { properties, additionalProperties, items, anyOf } = { ...schema, ...schema.published };
  if (additionalProperties) return undefined;
  if (properties) return objectWalker(properties, path);
  if (items) return arrayWalker(items, path);
  // A contact or a participant: a text, or an object.
  return anyOf?.map((one) => walkerOf(one, path)).find((walk) => walk !== undefined);
}

function objectWalker(properties: Readonly<Record<string, Schema>>, path: string): Walk {
  const known = new Map(
    Object.entries(properties).map(([key, schema]) => [key, walkerOf(schema, `${path}${key}.`)]),
  );
  return (value, ignored) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const key of Object.keys(value)) {
      if (ignored.isFull()) return;
      if (known.has(key)) known.get(key)?.((value as Record<string, unknown>)[key], ignored);
      else ignored.add(path, key);
    }
  };
}

function arrayWalker(items: Schema, path: string): Walk | undefined {
  const walk = walkerOf(items, `${path.replace(/\.$/, '')}[].`);
  return (
    walk &&
    ((value, ignored) => {
      if (!Array.isArray(value)) return;
      for (const item of value) {
        if (ignored.isFull()) return;
        walk(item, ignored);
      }
    })
  );
}

/** Every key of a query or body is ignored if its row has no schema for it. */
const EVERY_KEY: Walk = objectWalker({}, '');

/** Names ignored keys in the answer, before the work is done and before a fault is found. */
export function createIgnoredKeys({ query, body }: Pick<Endpoint, 'query' | 'body'>) {
  const walkQuery = query ? walkerOf(query) : EVERY_KEY;
  const walkBody = body ? walkerOf(body) : EVERY_KEY;
  const name = (context: Context, walk: Walk | undefined, value: unknown): void => {
    if (!walk) return;
    const state = context.state as { ignored?: IgnoredKeys };
    const ignored = state.ignored ?? new IgnoredKeys();
    walk(value, ignored);
    const header = ignored.header();
    if (header === undefined) return;
    state.ignored = ignored;
    context.set(IGNORED_HEADER, header);
  };
  return {
    ofQuery(context: Context): void {
      if (context.querystring !== '') name(context, walkQuery, context.query);
    },
    ofBody(context: Context, given: Fields): void {
      name(context, walkBody, given);
    },
  };
}
