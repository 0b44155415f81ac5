// Entries for statuses that arrived after the month of their message was closed. Written once and
// never changed: they belong to the month in which the statuses arrived.
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import { LONG_CURSOR, storeOnce } from '@bmg/common/mongo';
import type { ChargeFacts } from '../../pricing';
import type { PricedCharge } from '../price-charge';
import { readsInOrder, type LedgerScope, type Range } from './entries';
import { beginningWith, type MessageRecord } from '../../messages';

export interface LateEntry
  extends
    Pick<
      MessageRecord,
      | 'partner_id'
      | 'waba_id'
      | 'phone_number_id'
      | 'message_id'
      | 'kind'
      | 'template'
      | 'recipient'
      | 'status'
      | 'sent_at'
    >,
    ChargeFacts {
  /** The request id and the status. */
  _id: string;
  request_id: string;
  booked_at: Date;
  /** The charge after this entry, not only the difference. */
  price: PricedCharge;
  currency: string | null;
  /** The change to the amounts of earlier entries; null if it is not known. */
  amount: string | null;
  charged_change: number;
}

const DAY_S = 86_400;
/** Message records are kept as long. */
const KEPT_DAYS = 90;
/** A message has three statuses that can price it. */
const PER_MESSAGE = 3;

export const LEDGER_LATE = 'ledger_late';
export const lateEntryIndexes: IndexDescription[] = [
  { key: { partner_id: 1, booked_at: 1, _id: 1 } },
  { key: { request_id: 1 } },
  { key: { booked_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
];

export function createLateEntries(db: Db) {
  const entries: Collection<LateEntry> = db.collection(LEDGER_LATE);
  const filterOf = (
    { request_id_prefix: prefix, ...scope }: Partial<LedgerScope>,
    { from, to }: Range,
  ): Filter<LateEntry> => ({
    ...scope,
    ...(prefix !== undefined && { request_id: beginningWith(prefix) }),
    booked_at: { $gte: from, $lt: to },
  });
  return {
    /** An existing entry stays unchanged. */
    async add(added: LateEntry[]): Promise<void> {
      if (added.length > 0) await storeOnce(() => entries.insertMany(added, { ordered: false }));
    },
    /** The entries of these messages, in the order of their entry. */
    of: (records: MessageRecord[]): Promise<LateEntry[]> =>
      entries
        .find({
          partner_id: { $in: distinct(records.map(({ partner_id }) => partner_id)) },
          phone_number_id: { $in: distinct(records.map(({ phone_number_id }) => phone_number_id)) },
          request_id: { $in: records.map(({ _id }) => _id) },
        })
        .sort({ booked_at: 1, _id: 1 })
        .limit(records.length * PER_MESSAGE)
        .toArray(),
    ...readsInOrder(entries, 'booked_at', filterOf),
    /** The entries of all partners. */
    all: (range: Range): AsyncIterable<LateEntry> => entries.find(filterOf({}, range), LONG_CURSOR),
  };
}

export type LateEntries = ReturnType<typeof createLateEntries>;

const distinct = (values: string[]): string[] => [...new Set(values)];
