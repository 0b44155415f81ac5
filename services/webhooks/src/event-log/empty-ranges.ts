// Remembers which positions of a log have no event that passes a filter. Nothing is ever added
// below an existing position, so a range that was searched in vain stays empty: later searches need
// not read its buckets again.
import { LRUCache } from '@bmg/common/cache';
import type { Match, Range } from './store/buckets';

export interface EmptyRanges {
  /** The part of the range that is still to be searched; its first position may be above its last. */
  unsearched(partner_id: string, match: Match, range: Range): Range;
  /** No event of the range passes the filter. */
  add(partner_id: string, match: Match, range: Range): void;
}

/** About 200 bytes each. */
const REMEMBERED_MAX = 20_000;

export function createEmptyRanges(): EmptyRanges {
  const empty = new LRUCache<string, Range>({ max: REMEMBERED_MAX });
  return {
    unsearched(partner_id, match, { first, last }) {
      const known = isFilter(match) ? empty.get(keyOf(partner_id, match)) : undefined;
      if (!known || known.first > first || known.last < first) return { first, last };
      return { first: known.last + 1, last };
    },
    add(partner_id, match, range) {
      if (!isFilter(match) || range.last < range.first) return;
      const key = keyOf(partner_id, match);
      const known = empty.get(key);
      const joins = known && range.first <= known.last + 1 && known.first <= range.last + 1;
      empty.set(key, {
        first: joins ? Math.min(known.first, range.first) : range.first,
        last: joins ? Math.max(known.last, range.last) : range.last,
      });
    },
  };
}

export const isFilter = ({ waba_id, events, contact }: Match): boolean =>
  waba_id !== undefined || events !== undefined || contact !== undefined;

const keyOf = (partner_id: string, { waba_id = '', events = [], contact = '' }: Match): string =>
  JSON.stringify([partner_id, waba_id, [...new Set(events)].sort(), contact]);
