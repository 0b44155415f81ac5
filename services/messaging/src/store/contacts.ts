// Contacts: the phone numbers that the platform is known to have, with their platform ids. Traffic renews a
// record; without any it expires.
import type { AnyBulkWriteOperation, Collection, Db, IndexDescription } from 'mongodb';
import { createBatchWriter, isDuplicateKey } from '@bmg/common/mongo';

/** `traffic`: a message was exchanged. `sync`: the number is in the business's address book. */
export type ContactSource = 'traffic' | 'sync';

export interface ContactFact {
  waba_id: string;
  phone: string;
  /** The platform's id of the number. For a synced contact the number itself, unless traffic told another. */
  wa_id: string;
  source: ContactSource;
  at: Date;
}

export interface ContactRemoval {
  waba_id: string;
  phone: string;
  /** Facts learned after this time stay. */
  at: Date;
  /** Removes the contact only if this source told it. Defaults to any source. */
  source?: ContactSource;
}

export type ContactChange = { learn: ContactFact } | { remove: ContactRemoval };

export interface Contacts {
  /** Applies changes in order. */
  apply(changes: ContactChange[]): Promise<void>;
  /** Stores one fact; concurrent facts share one write. */
  learn(fact: ContactFact): Promise<void>;
  find(waba_id: string, phone: string): Promise<{ wa_id: string } | null>;
  drain(): Promise<void>;
}

interface ContactRecord {
  _id: string;
  waba_id: string;
  phone: string;
  wa_id: string;
  source: ContactSource;
  seen_at: Date;
}

const KEPT_DAYS = 180;
const DAY_S = 86_400;

const idOf = ({ waba_id, phone }: { waba_id: string; phone: string }): string =>
  `${waba_id}/${phone}`;

export const CONTACTS = 'contacts';
export const contactIndexes: IndexDescription[] = [
  { key: { seen_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
];

const collection = (db: Db): Collection<ContactRecord> => db.collection(CONTACTS);

export function createContacts(db: Db): Contacts {
  const contacts = collection(db);
  const apply = async (changes: ContactChange[]): Promise<void> => {
    if (changes.length === 0) return;
    try {
      await contacts.bulkWrite(changes.map(operation), { ordered: true });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Another process created one of the contacts first, which ended the ordered write: repeat it.
      await contacts.bulkWrite(changes.map(operation), { ordered: true });
    }
  };
  const writer = createBatchWriter<ContactFact>((facts) =>
    apply(facts.map((fact) => ({ learn: fact }))),
  );
  return {
    apply,
    learn: (fact) => writer.add(fact),
    drain: () => writer.drain(),
    find: (waba_id, phone) =>
      contacts.findOne({ _id: idOf({ waba_id, phone }) }, { projection: { _id: 0, wa_id: 1 } }),
  };
}

function operation(change: ContactChange): AnyBulkWriteOperation<ContactRecord> {
  if ('remove' in change) {
    const { at, source } = change.remove;
    return {
      deleteOne: {
        filter: { _id: idOf(change.remove), seen_at: { $lte: at }, ...(source && { source }) },
      },
    };
  }
  const { waba_id, phone, wa_id, source, at } = change.learn;
  const told = { wa_id, source };
  // An address book has numbers, not platform ids: it never overwrites what traffic told.
  const byTraffic = source === 'traffic';
  return {
    updateOne: {
      filter: { _id: idOf(change.learn) },
      update: {
        ...(byTraffic && { $set: told }),
        $setOnInsert: { waba_id, phone, ...(byTraffic ? {} : told) },
        $max: { seen_at: at },
      },
      upsert: true,
    },
  };
}
