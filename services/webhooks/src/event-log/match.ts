// The filters of readers. An event passes by its fields beside the content, and by the contact in
// the content: contacts are personal data, so they are nowhere but in the sealed content.
import { LRUCache } from '@bmg/common/cache';
import { spellingsOf } from '@bmg/common/ids';
import type { LoggedEvent, Match, Range } from './store/buckets';

/** Fields of an event's data that name a person. */
const CONTACT_FIELDS = [
  'from',
  'to',
  'bsuid',
  'recipient',
  'recipient_bsuid',
  'participant',
  'participant_bsuid',
  'phone_number',
];

/** True if the envelope names the contact: a phone number in any spelling, or a BSUID. */
export function namesContact(envelope: Buffer, contact: string): boolean {
  const spellings: readonly unknown[] = spellingsOf(contact);
  // Most envelopes need not be parsed.
  if (!spellings.some((one) => envelope.includes(one as string))) return false;
  const { data } = JSON.parse(envelope.toString('utf8')) as { data?: Record<string, unknown> };
  return CONTACT_FIELDS.some((field) => spellings.includes(data?.[field]));
}

/** Checks all but the contact. A deleted event never passes: only its position is left. */
export const passes = (
  { waba_id, events }: Match,
  one: Pick<LoggedEvent, 'event' | 'waba_id'>,
): boolean =>
  one.event !== '' &&
  (waba_id === undefined || one.waba_id === waba_id) &&
  (!events || events.includes(one.event));

/** About 200 bytes each. */
const REMEMBERED_MAX = 20_000;

export type EmptyRanges = ReturnType<typeof createEmptyRanges>;

/**
 * Remembers which positions of a log have no event that passes a filter. Nothing is ever added
 * below an existing position, so a range that was searched in vain stays empty: later searches need
 * not read its buckets again.
 */
export function createEmptyRanges() {
  const empty = new LRUCache<string, Range>({ max: REMEMBERED_MAX });
  return {
    /** The part of the range that is still to be searched; its `first` may be above its `last`. */
    unsearched(partner_id: string, match: Match, { first, last }: Range): Range {
      const known = isFilter(match) ? empty.get(keyOf(partner_id, match)) : undefined;
      if (!known || known.first > first || known.last < first) return { first, last };
      return { first: known.last + 1, last };
    },
    /** No event of the range passes the filter. */
    add(partner_id: string, match: Match, range: Range): void {
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
