// What the service has learned of phone numbers: that the platform knows them, and under which id. A
// record is written again and again for an active contact, and expires when nothing is heard any more.
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { createBatchWriter, isDuplicateKey } from '@bmg/common/mongo';

/** `traffic`: a message went between the two. `sync`: the business has the number in its address book. */
export type ContactSource = 'traffic' | 'sync';

export interface ContactFact {
  waba_id: string;
  phone: string;
  /** The platform's id of the number; of a synced contact the number itself unless known better. */
  wa_id: string;
  source: ContactSource;
  at: Date;
}

export interface ContactRemoval {
  waba_id: string;
  phone: string;
  /** Facts learned later stay. */
  at: Date;
  /** Takes back only what this source has told; everything unless given. */
  source?: ContactSource;
}

export type ContactChange = { learn: ContactFact } | { forget: ContactRemoval };

export interface Contacts {
  /** Stores changes in their order. */
  apply(changes: ContactChange[]): Promise<void>;
  /** One fact, stored together with others that arrive meanwhile. */
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
const collection = (db: Db): Collection<ContactRecord> => db.collection('contacts');

export async function createContactIndexes(db: Db): Promise<void> {
  await collection(db).createIndex({ seen_at: 1 }, { expireAfterSeconds: KEPT_DAYS * DAY_S });
}

export function createContacts(db: Db): Contacts {
  const contacts = collection(db);
  const apply = async (changes: ContactChange[]): Promise<void> => {
    if (changes.length === 0) return;
    try {
      await contacts.bulkWrite(changes.map(operation), { ordered: true });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Another process stored one of the contacts first; what stands behind it has not been written yet.
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
  if ('forget' in change) {
    const { at, source } = change.forget;
    return {
      deleteOne: {
        filter: { _id: idOf(change.forget), seen_at: { $lte: at }, ...(source && { source }) },
      },
    };
  }
  const { waba_id, phone, wa_id, source, at } = change.learn;
  const told = { wa_id, source };
  // An address book knows numbers, not the platform's ids: it never overwrites what traffic has told.
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
