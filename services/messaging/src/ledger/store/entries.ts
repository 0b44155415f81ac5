// Reads message records as entries of the ledger: in pages, as a stream, and counted in groups.
import { LONG_CURSOR, type Databases } from '@bmg/common/mongo';
import { hoursOf } from '@bmg/common/time';
import type { Collection, Db, Filter, FindOptions, Sort } from 'mongodb';
import { beginningWith, type MessageRecord, MESSAGES } from '../../messages';

/** The filter of a partner's request; a month is counted for all partners together. */
export interface LedgerScope {
  partner_id: string;
  waba_id?: string;
  phone_number_id?: string;
  /** The messages of one broadcast, 10,000 at most: all request ids that begin with it. */
  request_id_prefix?: string;
}

export interface Range {
  from: Date;
  /** Excluded. */
  to: Date;
}

/** The position after which the page starts. */
export interface Position {
  at: Date;
  id: string;
}

/** Messages that agree in everything that decides their price. */
export interface MessageGroup {
  partner_id: string;
  waba_id: string;
  phone_number_id: string;
  /** UTC day of the send, YYYY-MM-DD. */
  day: string;
  category: string | null;
  market: string | null;
  billable: boolean | null;
  arrived: boolean;
  messages: number;
}

const BATCH = 500;
/** Up to this many messages of all partners are counted at once, which takes a second or two. */
const AT_ONCE_MAX = 1_000_000;
/** The fields that an entry needs, so that the statuses are not read. */
const PROJECTION = { statuses: 0, checks: 0, check_at: 0 } as const;

type Counted = Omit<MessageGroup, 'messages' | 'arrived'> & { arrived: boolean | null };

const filterOf = (
  { request_id_prefix: prefix, ...scope }: Partial<LedgerScope>,
  { from, to }: Range,
): Filter<MessageRecord> => ({
  ...scope,
  ...(prefix !== undefined && { _id: beginningWith(prefix) }),
  sent_at: { $gte: from, $lt: to },
});

/** Reads the messages of the broadcast instead of all of the period. */
const indexOf = ({ request_id_prefix: prefix }: Partial<LedgerScope>) =>
  prefix === undefined ? {} : { hint: { _id: 1 } as const };

async function count(of: Db, scope: Partial<LedgerScope>, range: Range): Promise<MessageGroup[]> {
  const groups = await of
    .collection<MessageRecord>(MESSAGES)
    .aggregate<{ _id: Partial<Counted>; messages: number }>(
      [
        { $match: filterOf(scope, range) },
        {
          $group: {
            _id: {
              partner_id: '$partner_id',
              waba_id: '$waba_id',
              phone_number_id: '$phone_number_id',
              day: { $dateToString: { date: '$sent_at', format: '%Y-%m-%d' } },
              category: '$pricing.category',
              market: '$pricing.market',
              billable: '$pricing.billable',
              arrived: '$arrived',
            },
            messages: { $sum: 1 },
          },
        },
      ],
      { allowDiskUse: true, ...indexOf(scope) },
    )
    .toArray();
  return groups.map(({ _id, messages: counted }) => ({
    ...(_id as Counted),
    category: _id.category ?? null,
    market: _id.market ?? null,
    billable: _id.billable ?? null,
    arrived: _id.arrived ?? false,
    messages: counted,
  }));
}

/** Reads entries in the order of a time, in pages and as a stream. */
export function readsInOrder<T extends { _id: string }>(
  entries: Collection<T>,
  time: 'sent_at' | 'booked_at',
  filterOf: (scope: LedgerScope, range: Range) => Filter<T>,
  optionsOf: (scope: LedgerScope) => FindOptions = () => ({}),
) {
  const order: Sort = { [time]: 1, _id: 1 };
  const behind = ({ at, id }: Position): object => ({
    $or: [{ [time]: { $gt: at } }, { [time]: at, _id: { $gt: id } }],
  });
  return {
    page: (scope: LedgerScope, range: Range, after: Position | undefined, limit: number) =>
      entries
        .find({ ...filterOf(scope, range), ...(after && behind(after)) }, optionsOf(scope))
        .sort(order)
        .limit(limit)
        .toArray() as Promise<T[]>,
    stream: (scope: LedgerScope, range: Range) =>
      entries
        .find(filterOf(scope, range), { batchSize: BATCH, ...LONG_CURSOR, ...optionsOf(scope) })
        .sort(order) as AsyncIterable<T>,
  };
}

export function createLedgerEntries({ db, background }: Databases, at_once_max = AT_ONCE_MAX) {
  const optionsOf = (scope: LedgerScope) => ({ projection: PROJECTION, ...indexOf(scope) });
  const messages: Collection<MessageRecord> = db.collection(MESSAGES);
  return {
    ...readsInOrder(messages, 'sent_at', filterOf, optionsOf),
    groups: (scope: LedgerScope, range: Range): Promise<MessageGroup[]> => count(db, scope, range),
    /** Counts all partners' messages: many by the hour, so that each command ends in seconds. */
    async allGroups(range: Range): Promise<MessageGroup[]> {
      const groups = new Map<string, MessageGroup>();
      const many = await background
        .collection<MessageRecord>(MESSAGES)
        .countDocuments(filterOf({}, range), { limit: at_once_max });
      for (const part of many < at_once_max ? [range] : hoursOf(range)) {
        for (const { messages: counted, ...group } of await count(background, {}, part)) {
          const key = JSON.stringify(Object.entries(group).sort());
          groups.set(key, { ...group, messages: (groups.get(key)?.messages ?? 0) + counted });
        }
      }
      return [...groups.values()];
    },
  };
}

export type LedgerEntries = ReturnType<typeof createLedgerEntries>;
