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
  /** The platform's ids of the phone numbers that are known. */
  findIds(waba_id: string, phones: readonly string[]): Promise<Map<string, string>>;
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

/** Concurrent callers share one write; contacts are in no hurry. */
const BATCHES_APART_MS = 250;
/** Changes of one caller in the writer at a time. */
const APPLIED_MAX = 500;
/** Contacts read at once. */
const FOUND_MAX = 2_000;
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
  const write = async (changes: ContactChange[]): Promise<void> => {
    const operations = merged(changes).map(operation);
    // Only the changes of one contact depend on their order.
    const ordered = new Set(changes.map(idOfChange)).size < operations.length;
    try {
      await contacts.bulkWrite(operations, { ordered });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Another process created one of the contacts first: repeat the write.
      await contacts.bulkWrite(operations, { ordered });
    }
  };
  const writer = createBatchWriter<ContactChange>(write, { apart_ms: BATCHES_APART_MS });
  return {
    async apply(changes) {
      for (let start = 0; start < changes.length; start += APPLIED_MAX) {
        const some = changes.slice(start, start + APPLIED_MAX);
        await Promise.all(some.map((change) => writer.add(change)));
      }
    },
    learn: (fact) => writer.add({ learn: fact }),
    drain: () => writer.drain(),
    find: (waba_id, phone) =>
      contacts.findOne({ _id: idOf({ waba_id, phone }) }, { projection: { _id: 0, wa_id: 1 } }),
    async findIds(waba_id, phones) {
      const found = new Map<string, string>();
      for (let at = 0; at < phones.length; at += FOUND_MAX) {
        const ids = phones.slice(at, at + FOUND_MAX).map((phone) => idOf({ waba_id, phone }));
        const some = await contacts
          .find({ _id: { $in: ids } }, { projection: { _id: 0, phone: 1, wa_id: 1 } })
          .limit(FOUND_MAX)
          .toArray();
        for (const { phone, wa_id } of some) found.set(phone, wa_id);
      }
      return found;
    },
  };
}

const idOfChange = (change: ContactChange): string =>
  idOf('learn' in change ? change.learn : change.remove);

/** Joins consecutive facts of a contact, so that each contact is usually written once. */
function merged(changes: ContactChange[]): ContactChange[] {
  const of = new Map<string, ContactChange[]>();
  for (const change of changes) {
    const id = idOfChange(change);
    const earlier = of.get(id);
    const last = earlier?.at(-1);
    if (!earlier || !last) of.set(id, [change]);
    else if ('learn' in last && 'learn' in change) {
      earlier[earlier.length - 1] = { learn: stronger(last.learn, change.learn) };
    } else earlier.push(change);
  }
  return [...of.values()].flat();
}

const stronger = (earlier: ContactFact, later: ContactFact): ContactFact => {
  const told = earlier.source === 'traffic' && later.source === 'sync' ? earlier : later;
  return { ...told, at: earlier.at > later.at ? earlier.at : later.at };
};

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
