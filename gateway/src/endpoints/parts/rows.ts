// Options, requests and replies that rows of several chapters share.
import { missingFields } from '@bmg/common/errors';
import type { Node, NodeList } from '@bmg/proto/common';
import type { Fields, Input } from '../endpoint';
import * as is from './answers';
import type { Schema } from './schema';

/** A row of 2.9.0: in the usage record, but not counted by the rate limit (contract 15.5). */
export const uncounted = { scope: 'number', counted: false } as const;

/** A row beside the contract's, of the partner itself. */
export const partnerAddition = { scope: 'partner', addition: true } as const;

/** A row about one object of the partner's own, which its path names and which may not exist. */
export const ofOne = (params: Record<string, Schema>) =>
  ({ ...partnerAddition, params, codes: ['NOT_FOUND'] }) as const;

export type Caller = Pick<Input, 'partner_id' | 'key_id' | 'person_id'>;

/** Who makes the request: no caller can give more rights than it has. */
export const byCaller = ({ partner_id, key_id, person_id }: Caller) => ({
  partner_id,
  caller_key_id: key_id,
  caller_person_id: person_id,
});

/**
 * Throws if the body has none of the fields of a change. Null is a value there, so that the schema
 * cannot require one of them.
 */
export function refuseNoChange(body: object, fields: readonly string[]): void {
  if (hasAny(body, fields)) return;
  throw missingFields([...fields], `one of ${fields.join(', ')} is required`);
}

export const hasAny = (body: object, fields: readonly string[]): boolean =>
  fields.some((field) => (body as Fields)[field] !== undefined);

/** A list in a change: absent keeps the stored one, and null removes it. */
export const itemsOf = (list: readonly string[] | null | undefined) =>
  list === undefined ? undefined : { items: list ?? [] };

/**
 * A time whose form the schema has checked. A plus sign sent without URL encoding has arrived as a
 * space.
 */
export const timeOf = (text: string | null | undefined): Date | undefined =>
  text ? new Date(text.replace(' ', '+').toUpperCase()) : undefined;

/** The bytes of a page, by its limit: the schema fills in the default. */
export const bytesOfItems =
  (item_bytes: number) =>
  ({ limit = 0 }: { limit?: number }): number =>
    limit * item_bytes;

/** The cursor of a list that the service pages. */
export const nextPage = (after: string | undefined) => ({
  paging: { cursors: { after: after ?? null } },
});

/** Fetching a file may take 30 s; uploading 100 MB takes the rest. */
export const FILE_TIMEOUT_MS = 120_000;

/** A row that answers an upstream object under the name of its resource. */
export const nodeUnder = (name: string, node: Schema) => ({
  reply: ({ fields }: Node): Fields => ({ [name]: fields ?? {} }),
  answer: is.record({ [name]: node }),
});

/**
 * Works like `nodeUnder`, and repeats the fields of `shown` at the top, where the contract has
 * them.
 */
export const nodeAndTop = (name: string, shown: Schema) => {
  const { properties = {} } = shown;
  return {
    reply: ({ fields }: Node): Fields => ({
      ...Object.fromEntries(
        Object.entries(fields ?? {}).filter(([key]) => Object.hasOwn(properties, key)),
      ),
      [name]: fields ?? {},
    }),
    answer: is.record({ ...properties, [name]: shown }, { optional: Object.keys(properties) }),
  };
};

/**
 * Works like `nodeUnder`, but omits the key when the upstream returned nothing beside its success.
 */
export const outcomeUnder = (name: string, node = FURTHER) => ({
  reply: ({ fields }: Node): Fields =>
    fields && Object.keys(fields).length > 0 ? { [name]: fields } : {},
  answer: is.record({ [name]: node }, { optional: [name] }),
});

const FURTHER = is.node({}, { description: 'Further fields of the upstream’s answer, if any.' });

/** A row that answers one page of a list, with the upstream's cursors and the page size used. */
export const pageUnder = (name: string, item: Schema, description?: string) => ({
  reply: ({ items, before, after, limit }: NodeList): Fields => ({
    [name]: items,
    paging: { cursors: { before: before ?? null, after: after ?? null } },
    ...(limit !== undefined && { limit }),
  }),
  answer: is.record(
    { [name]: is.list(item, description), paging: is.paging, limit: is.used_limit },
    { optional: ['limit'] },
  ),
});

/** A rotation that ends the former secret at once reduces risk. */
export const withoutOverlap = (body: Fields): boolean => body['overlap_hours'] === 0;

/** The gateway's address; `base_url` is that of the API, which ends in `/v1`. */
export const siteOf = (base_url: string): string => base_url.replace(/\/v1$/, '');
