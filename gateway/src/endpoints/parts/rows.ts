// Options, replies and timeouts that rows of several chapters share.
import type { Node, NodeList } from '@bmg/proto/common';
import type { Fields } from '../endpoint';
import type { Schema } from './schema';

/** A row of 2.9.0: in the usage record, but not counted by the rate limit (contract 15.5). */
export const uncounted = { scope: 'number', counted: false } as const;

/** Fetching a file may take 30 s; uploading 100 MB takes the rest. */
export const FILE_TIMEOUT_MS = 120_000;

/** An upstream object under the name of its resource. */
export const nodeUnder =
  (name: string) =>
  ({ fields }: Node): Fields => ({ [name]: fields ?? {} });

/**
 * Works like `nodeUnder`, and repeats the fields of `shown` at the top, where the contract has
 * them.
 */
export const nodeAndTop =
  (name: string, { properties = {} }: Schema) =>
  ({ fields }: Node): Fields => ({
    ...Object.fromEntries(
      Object.entries(fields ?? {}).filter(([key]) => Object.hasOwn(properties, key)),
    ),
    [name]: fields ?? {},
  });

/**
 * Works like `nodeUnder`, but omits the key when the upstream returned nothing beside its success.
 */
export const outcomeUnder =
  (name: string) =>
  ({ fields }: Node): Fields =>
    fields && Object.keys(fields).length > 0 ? { [name]: fields } : {};

/** A list that the service pages itself; `truncated` when it stopped before the last page. */
export const wholeUnder =
  (name: string) =>
  ({ items, after, limit }: NodeList): Fields => ({
    [name]: items,
    ...(limit !== undefined && { limit }),
    ...(after !== undefined && { truncated: true }),
  });

/** One page of a list, with the upstream's cursors and the page size used. */
export const pageUnder =
  (name: string) =>
  ({ items, before, after, limit }: NodeList): Fields => ({
    [name]: items,
    paging: { cursors: { before: before ?? null, after: after ?? null } },
    ...(limit !== undefined && { limit }),
  });

/** A rotation that ends the former secret at once reduces risk. */
export const withoutOverlap = (body: Fields): boolean => body['overlap_hours'] === 0;

/** The gateway's address; `base_url` is that of the API, which ends in `/v1`. */
export const siteOf = (base_url: string): string => base_url.replace(/\/v1$/, '');
