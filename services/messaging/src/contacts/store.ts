// Contacts, one small record for each account and customer: whether the platform has the number,
// when the customer last wrote to which number and from which entry point, and why the last send
// failed. Events renew a record; without any it expires. A record keeps the spelling in which the
// number was met; readers join what is stored of the two spellings of one number.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { groupBy } from '@bmg/common/collections';
import { numberKey, spellingsOf, isSameNumber } from '@bmg/common/ids';
import { createBatchWriter, upsert } from '@bmg/common/mongo';
import {
  contactKey,
  keysOfAccount,
  writesOf,
  type ContactChange,
  type ContactFact,
  type ContactRecord,
  type Conversation,
  type ConversationFact,
} from './contact-changes';

/** Concurrent callers share one write; contacts are in no hurry. */
const BATCHES_APART_MS = 250;
/** Changes of one caller in the writer at a time. */
const APPLIED_MAX = 500;
/** Contacts read at once. */
const FOUND_MAX = 2_000;
export const KEPT_DAYS = 180;
const DAY_S = 86_400;
/** The document that holds the time of the first recorded event. */
const STARTED = '#started';

export const CONTACTS = 'contacts';
export const contactIndexes: IndexDescription[] = [
  { key: { seen_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
  { key: { bsuid: 1 }, sparse: true },
];

type Conversing = Pick<ContactRecord, '_id' | 'bsuid' | 'wa_id' | 'numbers'>;
type Stored = ContactRecord & { started_at?: Date };

const collection = (db: Db): Collection<Stored> => db.collection(CONTACTS);

export function createContacts(db: Db) {
  const contacts = collection(db);
  const write = async (changes: ContactChange[]): Promise<void> => {
    const { operations, ordered } = writesOf(changes);
    await upsert(() => contacts.bulkWrite(operations, { ordered }));
  };
  const writer = createBatchWriter<ContactChange>(write, { apart_ms: BATCHES_APART_MS });
  return {
    async start(now: Date): Promise<void> {
      const started = { $setOnInsert: { started_at: now } };
      await contacts.updateOne({ _id: STARTED }, started, { upsert: true });
    },
    /** Applies changes in order. */
    async apply(changes: ContactChange[]): Promise<void> {
      for (let start = 0; start < changes.length; start += APPLIED_MAX) {
        const some = changes.slice(start, start + APPLIED_MAX);
        await Promise.all(some.map((change) => writer.add(change)));
      }
    },
    /** Stores one fact; concurrent facts share one write. */
    learn: (fact: ContactFact): Promise<void> => writer.add({ learn: fact }),
    /** Stores a fact that waited: its contact has a record, unless that was purged. */
    noteLate: (note: ConversationFact): Promise<void> => writer.add({ note, late: true }),
    drain: (): Promise<void> => writer.drain(),
    async find(waba_id: string, phone: string): Promise<{ wa_id: string } | null> {
      const records = await recordsOfAll(contacts, waba_id, [phone]);
      // A contact of the address book has the number itself as its id.
      const wa_id = recordsOf(phone, records)
        .map((record) => record.wa_id ?? (record.in_address_book ? phone : undefined))
        .find((id) => id !== undefined);
      return wa_id === undefined ? null : { wa_id };
    },
    /** The ids that the platform gave for these phone numbers. */
    async findIds(waba_id: string, phones: readonly string[]): Promise<Map<string, string>> {
      const ids = new Map<string, string>();
      for (let at = 0; at < phones.length; at += FOUND_MAX) {
        const some = phones.slice(at, at + FOUND_MAX);
        const records = groupBy(await recordsOfAll(contacts, waba_id, some), keyOfRecord);
        for (const phone of some) {
          const found = recordsOf(phone, records.get(numberKey(phone)) ?? []);
          const known = found.find(({ wa_id }) => wa_id !== undefined);
          if (known?.wa_id !== undefined) ids.set(phone, known.wa_id);
        }
      }
      return ids;
    },
  };
}

export type Contacts = ReturnType<typeof createContacts>;

type Known = Pick<ContactRecord, '_id' | 'wa_id' | 'in_address_book'>;

/** The records of all spellings of these numbers. */
const recordsOfAll = (
  contacts: Collection<Stored>,
  waba_id: string,
  phones: readonly string[],
): Promise<Known[]> =>
  contacts
    .find({ _id: { $in: keysOf(waba_id, phones) } })
    .project<Known>({ wa_id: 1, in_address_book: 1 })
    .toArray();

const keysOf = (waba_id: string, contacts: readonly string[]): string[] =>
  contacts.flatMap((one) => spellingsOf(one).map((spelling) => contactKey(waba_id, spelling)));

type Identified = Pick<ContactRecord, '_id' | 'wa_id'>;

const contactOf = ({ _id }: Identified): string => _id.slice(_id.indexOf('/') + 1);

/** Equal for the spellings of one number. */
const keyOfRecord = (record: Identified): string => numberKey(contactOf(record));

export function createConversations(db: Db) {
  const contacts = collection(db);
  return {
    /** The result is keyed by contact; contacts are phone numbers or BSUIDs. */
    async find(
      { waba_id, phone_number_id }: Pick<ConversationFact, 'waba_id' | 'phone_number_id'>,
      wanted: readonly string[],
    ): Promise<Map<string, Conversation>> {
      const field = `numbers.${phone_number_id}`;
      const found = new Map<string, Conversation>();
      for (let at = 0; at < wanted.length; at += FOUND_MAX) {
        const some = wanted.slice(at, at + FOUND_MAX);
        const bsuids = some.filter((contact) => contact.includes('.'));
        const byKey = { _id: { $in: keysOf(waba_id, some) } };
        const byBsuid = { bsuid: { $in: bsuids }, _id: keysOfAccount(waba_id) };
        const records = await contacts
          .find(bsuids.length === 0 ? byKey : { $or: [byKey, byBsuid] })
          .project<Conversing>({ bsuid: 1, wa_id: 1, [field]: 1 })
          .toArray();
        const ofNumber = groupBy(records, keyOfRecord);
        const conversationsOf = (contact: string) =>
          recordsOf(contact, ofNumber.get(numberKey(contact)) ?? []).map(
            ({ numbers }) => numbers?.[phone_number_id],
          );
        // A BSUID can have a record of its own, and be that of another one too.
        const named = new Map(some.map((contact) => [contact, new Set([contact])]));
        for (const record of records) {
          const contact = contactOf(record);
          for (const name of [contact, record.bsuid ?? contact]) {
            named.set(name, (named.get(name) ?? new Set()).add(contact));
          }
        }
        for (const [name, contacts_of] of named) {
          const conversation = joinConversations([...contacts_of].flatMap(conversationsOf));
          if (conversation) found.set(name, conversation);
        }
      }
      return found;
    },
    /** Since when events are recorded here. */
    async recordedSince(): Promise<Date> {
      const found = await contacts.findOne({ _id: STARTED });
      return found?.started_at ?? new Date();
    },
  };
}

export type Conversations = ReturnType<typeof createConversations>;

/** Records of one account, found by the spellings of a contact: that of the contact is first. */
function recordsOf<R extends Identified>(contact: string, records: readonly R[]): R[] {
  const own = records.find((record) => contactOf(record) === contact);
  const others = records.filter(
    (record) =>
      record !== own &&
      isSameNumber(contactOf(record), contact) &&
      (own?.wa_id === undefined || record.wa_id === undefined || own.wa_id === record.wa_id),
  );
  return own ? [own, ...others] : others;
}

/** The latest of each. */
export function joinConversations(
  all: ReadonlyArray<Conversation | undefined>,
): Conversation | undefined {
  const known = all.filter((one) => one !== undefined);
  if (known.length < 2) return known[0];
  const joined: Conversation = {};
  for (const one of known) {
    for (const field of ['inbound_at', 'entry_at', 'free_entry_at'] as const) {
      const at = one[field];
      if (at && (joined[field] ?? 0) < at) joined[field] = at;
    }
    if (one.failed && (joined.failed?.at ?? 0) < one.failed.at) joined.failed = one.failed;
  }
  return joined;
}
