// Checks that an object that a request names belongs to its account or number: a token reaches
// other objects too. The upstream's own list decides.
import { VersionedCache } from '@bmg/common/directory';
import { invalidField } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import {
  isObject,
  itemsOf,
  type Json,
  type Question,
  type Runner,
  type Targeted,
} from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';

interface Kind {
  field: string;
  list: Question<{ target: Target }>;
  owner: 'WABA' | 'number';
}

/** Groups are nested one level deeper than the items of other lists. */
export const groupsOf = ({ data }: Json): Json[] =>
  itemsOf({ data: isObject(data) ? data['groups'] : data });

const KINDS = {
  number: {
    field: 'phone_number_id',
    list: {
      upstream: 'GET /{waba_id}/phone_numbers',
      query: { fields: 'id' },
      pages: { page_size: 100, items_max: 2_000 },
    },
    owner: 'WABA',
  },
  flow: {
    field: 'flow_id',
    list: {
      upstream: 'GET /{waba_id}/flows',
      query: { fields: 'id' },
      pages: { page_size: 100, items_max: 10_000 },
    },
    owner: 'WABA',
  },
  group: {
    field: 'group_id',
    list: {
      upstream: 'GET /{phone_number_id}/groups',
      pages: { page_size: 1_000, items_max: 10_000, items: groupsOf },
    },
    owner: 'number',
  },
} as const satisfies Record<string, Kind>;

/** Steps with the same object follow each other within seconds, and need one look-up together. */
const ENTRIES_MAX = 10_000;

/** Throws unless the upstream lists the object. */
export type RequireMember = (
  kind: keyof typeof KINDS,
  id: string,
  target: Target,
  call: Call,
) => Promise<void>;

export function createMembership(ask: Runner['ask']): RequireMember {
  const cache = new VersionedCache<{ id: string }>(ENTRIES_MAX);
  return async (kind, id, target, call) => {
    const { field, list, owner }: Kind = KINDS[kind];
    const { partner_id, waba_id, phone_number_id, directory_version } = target;
    const of = owner === 'WABA' ? waba_id : phone_number_id;
    await cache.get(
      `${partner_id}/${of}/${kind}/${id}`,
      directory_version || undefined,
      async () => {
        // Refusals are not cached, so that a new object is found at once.
        if (itemsOf(await ask(list, { target }, call)).some((item) => item['id'] === id))
          return { id };
        throw invalidField(field, `does not belong to the ${owner}`);
      },
    );
  };
}

/**
 * Resolves the number of a request: the target's, or another number of the account in the request's
 * field `phone_number_id` (contract 2.4).
 */
export const createNumbers =
  (requireMember: RequireMember) =>
  async (
    { phone_number_id: named }: Targeted & { phone_number_id?: unknown },
    target: Target,
    call: Call,
  ): Promise<string> => {
    if (typeof named !== 'string' || named === target.phone_number_id) {
      return target.phone_number_id;
    }
    await requireMember('number', named, target, call);
    return named;
  };

export type NumberOf = ReturnType<typeof createNumbers>;
