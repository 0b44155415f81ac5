// Open registrations: numbers whose account is being subscribed upstream, and whose client is not
// active yet. The upstream may send webhooks as soon as it has processed the request, so their
// events belong to the partner from here on. The client itself is stored only once the account is
// subscribed and has its place in the plan.
import type { Collection, Db, Filter } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';
import { clientId, type NumberScope, type Scope } from './clients';

interface OpenRegistration extends NumberScope {
  _id: string;
  phone_number: string;
  /** The partner gets no events from here on, unless it has repeated the registration. */
  until: Date;
}

export type OpenNumber = Omit<OpenRegistration, '_id' | 'until'>;

export const OPEN_REGISTRATIONS = 'open_registrations';
export const openRegistrationIndexes: Indexes = {
  [OPEN_REGISTRATIONS]: [
    { key: { phone_number_id: 1 } },
    { key: { waba_id: 1 } },
    { key: { until: 1 }, expireAfterSeconds: 0 },
  ],
};

/** Bounds the read: a number is never shared by more partners than this. */
const OWNERS_MAX = 200;

export function createOpenRegistrations(db: Db) {
  const registrations: Collection<OpenRegistration> = db.collection(OPEN_REGISTRATIONS);
  const find = (filter: Filter<OpenRegistration>, now: Date, of = 1): Promise<OpenNumber[]> =>
    registrations.find({ ...filter, until: { $gt: now } }, { limit: OWNERS_MAX * of }).toArray();
  return {
    open: (numbers: OpenNumber[], until: Date) =>
      registrations.bulkWrite(
        numbers.map(({ partner_id, waba_id, phone_number_id, phone_number }) => {
          const row = { partner_id, waba_id, phone_number_id, phone_number, until };
          return {
            updateOne: { filter: { _id: clientId(row) }, update: { $set: row }, upsert: true },
          };
        }),
        { ordered: false },
      ),
    close: (numbers: NumberScope[]) =>
      registrations.deleteMany({ _id: { $in: numbers.map(clientId) } }),
    closeAccount: ({ partner_id, waba_id }: Scope) =>
      registrations.deleteMany({ waba_id, partner_id }),
    ofNumbers: (ids: string[], now: Date) =>
      find({ phone_number_id: { $in: ids } }, now, ids.length),
    ofDisplayNumber: (waba_id: string, phone_number: string, now: Date) =>
      find({ waba_id, phone_number }, now),
    ofAccount: (waba_id: string, now: Date) => find({ waba_id }, now),
  };
}
