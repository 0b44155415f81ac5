// What events change of clients: the rows of every partner that has the account or the number. Events may
// be repeated and may come late, so that each change is made only where nothing newer is known.
import type { Db, Filter } from 'mongodb';
import { clientCollection, type Client, type ClientChange, type FactKind } from './clients';

/** One number, or all numbers of an account. */
export type Concerned = { phone_number_id: string } | { waba_id: string };

export interface Happening {
  concerned: Concerned;
  kind: FactKind;
  /** The upstream's time of it. */
  at: Date;
  /** When it reached us. */
  received_at: Date;
}

export interface ClientEvents {
  /** Answers the rows concerned, changed or not, so that a repetition announces them again. */
  apply(happening: Happening, change: ClientChange): Promise<Client[]>;
  /** The latest activity of each number. */
  touch(activity: ReadonlyMap<string, Date>): Promise<void>;
  fillBusinessId(waba_id: string, business_id: string): Promise<void>;
  /** Has the number's facts fetched again. */
  requestRefresh(phone_number_id: string, at: Date): Promise<void>;
  /** One row that is due, taken until `lease_until`; null when there is none. */
  claimRefresh(now: Date, lease_until: Date): Promise<Client | null>;
  finishRefresh(phone_number_id: string, change: ClientChange): Promise<void>;
  /** Tries again at `at`, or not at all. */
  postponeRefresh(client: Client, at: Date | null): Promise<void>;
}

/** More partners than this never share an account; every read has a bound. */
const ROWS_MAX = 1_000;

export function createClientEvents(db: Db): ClientEvents {
  const clients = clientCollection(db);
  return {
    async apply({ concerned, kind, at, received_at }, change) {
      const active: Filter<Client> = { ...concerned, status: 'active' };
      const rows = await clients.find(active).limit(ROWS_MAX).toArray();
      const waiting = rows.filter(
        ({ known_since, known_at }) =>
          !((known_since && known_since > received_at) || (known_at?.[kind] ?? at) > at),
      );
      if (waiting.length > 0) {
        await clients.bulkWrite(
          waiting.map(({ _id, known_since }) => ({
            updateOne: {
              // The row as it was judged: a registration that came in between wins.
              filter: { _id, status: 'active', known_since: known_since ?? { $exists: false } },
              update: { $set: { ...change, [`known_at.${kind}`]: at } },
            },
          })),
          { ordered: false },
        );
      }
      return rows;
    },
    async touch(activity) {
      await clients.bulkWrite(
        [...activity].map(([phone_number_id, at]) => ({
          updateMany: {
            filter: { phone_number_id, status: 'active' },
            update: { $max: { last_activity_at: at } },
          },
        })),
        { ordered: false },
      );
    },
    async fillBusinessId(waba_id, business_id) {
      await clients.updateMany({ waba_id, business_id: null }, { $set: { business_id } });
    },
    async requestRefresh(phone_number_id, at) {
      // One row asks for all of the number's: the upstream's answer is the same for every partner.
      await clients.updateOne(
        { phone_number_id, status: 'active' },
        { $set: { refresh_due_at: at, refresh_tries: 0 } },
      );
    },
    claimRefresh: (now, lease_until) =>
      clients.findOneAndUpdate(
        { refresh_due_at: { $lte: now }, status: 'active' },
        { $set: { refresh_due_at: lease_until }, $inc: { refresh_tries: 1 } },
        { returnDocument: 'after' },
      ),
    async finishRefresh(phone_number_id, change) {
      await clients.updateMany(
        { phone_number_id, status: 'active' },
        { $set: { ...change, refresh_due_at: null, refresh_tries: 0 } },
      );
    },
    async postponeRefresh({ _id }, at) {
      await clients.updateOne({ _id }, { $set: { refresh_due_at: at } });
    },
  };
}
