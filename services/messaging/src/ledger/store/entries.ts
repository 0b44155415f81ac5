// Reads message records as entries of the ledger: in pages, as a stream, and counted in groups.
import type { Collection, Db, Filter } from 'mongodb';
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

export interface LedgerEntries {
  page(
    scope: LedgerScope,
    range: Range,
    after: Position | undefined,
    limit: number,
  ): Promise<MessageRecord[]>;
  stream(scope: LedgerScope, range: Range): AsyncIterable<MessageRecord>;
  groups(scope: LedgerScope, range: Range): Promise<MessageGroup[]>;
  /** Of all partners. */
  allGroups(range: Range): Promise<MessageGroup[]>;
}

const READ_LIMIT_MS = 10_000;
/** A day of all partners, in the background. */
const COUNT_ALL_LIMIT_MS = 600_000;
const BATCH = 500;
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

export function createLedgerEntries(db: Db): LedgerEntries {
  const messages: Collection<MessageRecord> = db.collection(MESSAGES);
  const order = { sent_at: 1, _id: 1 } as const;
  const count = async (scope: Partial<LedgerScope>, range: Range, limit_ms: number) => {
    const groups = await messages
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
        { maxTimeMS: limit_ms, allowDiskUse: true, ...indexOf(scope) },
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
  };
  return {
    page: (scope, range, after, limit) =>
      messages
        .find(
          {
            ...filterOf(scope, range),
            ...(after && {
              $or: [{ sent_at: { $gt: after.at } }, { sent_at: after.at, _id: { $gt: after.id } }],
            }),
          },
          { maxTimeMS: READ_LIMIT_MS, projection: PROJECTION, ...indexOf(scope) },
        )
        .sort(order)
        .limit(limit)
        .toArray(),
    stream: (scope, range) =>
      messages
        .find(filterOf(scope, range), {
          projection: PROJECTION,
          batchSize: BATCH,
          ...indexOf(scope),
        })
        .sort(order),
    groups: (scope, range) => count(scope, range, READ_LIMIT_MS),
    allGroups: (range) => count({}, range, COUNT_ALL_LIMIT_MS),
  };
}
