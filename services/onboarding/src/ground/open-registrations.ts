// Open registrations: numbers whose account is being subscribed upstream, and whose client is not
// active yet. The upstream may send webhooks as soon as it has processed the
// request, so their events belong to the partner from here on. The client itself is stored only once
// the account is subscribed and has its place in the plan.
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import { clientId, type NumberScope, type Scope } from './clients';

interface OpenRegistration extends NumberScope {
  _id: string;
  phone_number: string;
  /** The partner gets no events from here on, unless it has repeated the registration. */
  until: Date;
}

export type OpenNumber = Omit<OpenRegistration, '_id' | 'until'>;

export interface OpenRegistrations {
  open(numbers: OpenNumber[], until: Date): Promise<void>;
  close(numbers: NumberScope[]): Promise<void>;
  closeAccount(scope: Scope): Promise<void>;
  ofNumbers(phone_number_ids: string[], now: Date): Promise<OpenNumber[]>;
  ofDisplayNumber(waba_id: string, phone_number: string, now: Date): Promise<OpenNumber[]>;
  ofAccount(waba_id: string, now: Date): Promise<OpenNumber[]>;
}

export const OPEN_REGISTRATIONS = 'open_registrations';
export const openRegistrationIndexes: IndexDescription[] = [
  { key: { phone_number_id: 1 } },
  { key: { waba_id: 1 } },
  { key: { until: 1 }, expireAfterSeconds: 0 },
];

/** Bounds the read: a number is never shared by more partners than this. */
const OWNERS_MAX = 200;

export function createOpenRegistrations(db: Db): OpenRegistrations {
  const registrations: Collection<OpenRegistration> = db.collection(OPEN_REGISTRATIONS);
  const find = (filter: Filter<OpenRegistration>, now: Date, of = 1): Promise<OpenNumber[]> =>
    registrations
      .find({ ...filter, until: { $gt: now } })
      .limit(OWNERS_MAX * of)
      .toArray();
  return {
    async open(numbers, until) {
      await registrations.bulkWrite(
        numbers.map(({ partner_id, waba_id, phone_number_id, phone_number }) => {
          const row = { partner_id, waba_id, phone_number_id, phone_number, until };
          return {
            updateOne: { filter: { _id: clientId(row) }, update: { $set: row }, upsert: true },
          };
        }),
        { ordered: false },
      );
    },
    async close(numbers) {
      await registrations.deleteMany({ _id: { $in: numbers.map(clientId) } });
    },
    async closeAccount({ partner_id, waba_id }) {
      await registrations.deleteMany({ waba_id, partner_id });
    },
    ofNumbers: (ids, now) => find({ phone_number_id: { $in: ids } }, now, ids.length),
    ofDisplayNumber: (waba_id, phone_number, now) => find({ waba_id, phone_number }, now),
    ofAccount: (waba_id, now) => find({ waba_id }, now),
  };
}
