// Reads message records for a partner: pages of its sends, newest first, and single ones. One page
// searches a bounded number of records, however little a filter matches.
import type { Collection, Db, Filter, FindOptions } from 'mongodb';
import { spellingsOf } from '@bmg/common/ids';
import { beginningWith, type MessageRecord, MESSAGES } from '../messages';

/** A partner sees only its own sends. */
export interface ListScope {
  partner_id: string;
  waba_id?: string | undefined;
}

export interface MessageFilter {
  phone_number_id?: string | undefined;
  message_id?: string | undefined;
  recipient?: string | undefined;
  status?: MessageRecord['status'] | undefined;
  kind?: string | undefined;
  category?: string | undefined;
  /** The messages of one broadcast, 10,000 at most: all request ids that begin with it. */
  request_id_prefix?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A position in the order of the list: the next page begins after it. */
export type Place = Pick<MessageRecord, 'sent_at' | '_id'>;

export interface MessagePage {
  messages: MessageRecord[];
  /** Absent after the last page. A page may be empty and have one. */
  next: Place | undefined;
  /** Records that a search examined; absent if an index covers the filter. */
  searched?: number;
}

const SEARCHED = ['phone_number_id', 'status', 'kind', 'category'] as const;
const INDEXED = ['message_id', 'recipient'] as const;

type Searched = Partial<Record<(typeof SEARCHED | typeof INDEXED)[number], string | undefined>>;

/**
 * True if a page may look at many more records than it has: no index knows the filter, or the order
 * within a broadcast.
 */
export const isSearch = (filter: Searched, of_broadcast: boolean): boolean =>
  (of_broadcast || SEARCHED.some((field) => filter[field] !== undefined)) &&
  INDEXED.every((field) => filter[field] === undefined);

/** Records searched for one page when no index knows the filter. */
const SEARCH_MAX = 20_000;
const READ_LIMIT_MS = 5_000;
const NEWEST_FIRST = { sent_at: -1, _id: -1 } as const;

export function createMessageList(db: Db) {
  const messages: Collection<MessageRecord> = db.collection(MESSAGES);
  /** The last record that one page may look at; undefined if all are within the bound. */
  const boundOf = async (
    ordered: Filter<MessageRecord>,
    options: FindOptions,
  ): Promise<Place | undefined> => {
    const [bound] = await messages
      .find(ordered, options)
      .project<Place>({ sent_at: 1 })
      .sort(NEWEST_FIRST)
      .skip(SEARCH_MAX - 1)
      .limit(1)
      .toArray();
    return bound;
  };
  return {
    async page(
      scope: ListScope,
      filter: MessageFilter,
      { after, limit }: { after: Place | undefined; limit: number },
    ): Promise<MessagePage> {
      const { from, to, message_id, recipient, category, request_id_prefix, ...rest } = filter;
      // Few records: the index of the field finds them all.
      const named = {
        ...given({ message_id }),
        ...(recipient !== undefined && { recipient: { $in: spellingsOf(recipient) } }),
      };
      const others = given({ ...rest, 'pricing.category': category });
      const ordered: Filter<MessageRecord> = {
        ...scopeOf(scope),
        ...timesOf(from, to),
        ...named,
        ...(request_id_prefix !== undefined && { _id: beginningWith(request_id_prefix) }),
      };
      const base = after ? { $and: [ordered, behind(after)] } : ordered;
      const is_search = isSearch(filter, request_id_prefix !== undefined);
      // Reads the messages of the broadcast instead of all of the partner.
      const options = {
        maxTimeMS: READ_LIMIT_MS,
        ...(request_id_prefix !== undefined && { hint: { _id: 1 } }),
      };
      const bound = is_search ? await boundOf(base, options) : undefined;
      const within = bound ? { $and: [base, upTo(bound)] } : base;
      const found = await messages
        .find({ ...within, ...others }, options)
        .sort(NEWEST_FIRST)
        .limit(limit + 1)
        .toArray();
      const page = found.slice(0, limit);
      const next = found.length > limit ? placeOf(page.at(-1)) : bound;
      if (!is_search) return { messages: page, next };
      const searched = bound ? SEARCH_MAX : await messages.countDocuments(base, options);
      return { messages: page, next, searched };
    },
    find: (
      { phone_number_id, ...scope }: ListScope & { phone_number_id?: string | undefined },
      message_id: string,
    ): Promise<MessageRecord | null> =>
      messages.findOne(
        { ...scopeOf(scope), ...given({ phone_number_id }), message_id },
        { maxTimeMS: READ_LIMIT_MS },
      ),
  };
}

const scopeOf = ({ partner_id, waba_id }: ListScope): Filter<MessageRecord> => ({
  partner_id,
  ...(waba_id !== undefined && { waba_id }),
});

const timesOf = (from: Date | undefined, to: Date | undefined): Filter<MessageRecord> =>
  from || to ? { sent_at: { ...(from && { $gte: from }), ...(to && { $lte: to }) } } : {};

const given = (fields: Record<string, unknown>): Filter<MessageRecord> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const behind = ({ sent_at, _id }: Place): Filter<MessageRecord> => ({
  sent_at: { $lte: sent_at },
  $or: [{ sent_at: { $lt: sent_at } }, { _id: { $lt: _id } }],
});

const upTo = ({ sent_at, _id }: Place): Filter<MessageRecord> => ({
  sent_at: { $gte: sent_at },
  $or: [{ sent_at: { $gt: sent_at } }, { _id: { $gte: _id } }],
});

const placeOf = (record: MessageRecord | undefined): Place | undefined =>
  record && { sent_at: record.sent_at, _id: record._id };
