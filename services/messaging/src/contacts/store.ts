// Contacts, one small record for each account and customer: whether the platform has the number,
// when the customer last wrote to which number and from which entry point, and why the last send
// failed. Events renew a record; without any it expires. A record keeps the spelling in which the
// number was met; readers join what is stored of the two spellings of one number.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { groupBy } from '@bmg/common/collections';
import { numberKey, spellingsOf, isSameNumber } from '@bmg/common/ids';
import { createBatchWriter, isDuplicateKey } from '@bmg/common/mongo';
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
      const wa_id = first(recordsOf(phone, records), (record) => platformId(record, phone));
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
          const wa_id = first(found, (record) => record.wa_id);
          if (wa_id !== undefined) ids.set(phone, wa_id);
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

/** Equal for the spellings of one number. */
const keyOfRecord = ({ _id }: Pick<ContactRecord, '_id'>): string =>
  numberKey(_id.slice(_id.indexOf('/') + 1));

function first<R, V>(records: readonly R[], read: (record: R) => V | undefined): V | undefined {
  for (const record of records) {
    const value = read(record);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Undefined if the platform is not known to have the number. */
const platformId = (
  { wa_id, in_address_book }: Pick<ContactRecord, 'wa_id' | 'in_address_book'>,
  phone: string,
): string | undefined => wa_id ?? (in_address_book ? phone : undefined);

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
        for (const { _id, bsuid } of records) {
          const contact = _id.slice(waba_id.length + 1);
          for (const name of bsuid === undefined ? [contact] : [contact, bsuid]) {
            const contacts_of = named.get(name) ?? new Set();
            named.set(name, contacts_of.add(contact));
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

type Identified = Pick<ContactRecord, '_id' | 'wa_id'>;

const contactOf = ({ _id }: Identified): string => _id.slice(_id.indexOf('/') + 1);

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
  for (const { inbound_at, entry_at, free_entry_at, failed } of known) {
    setLater(joined, 'inbound_at', inbound_at);
    setLater(joined, 'entry_at', entry_at);
    setLater(joined, 'free_entry_at', free_entry_at);
    if (failed && (!joined.failed || joined.failed.at < failed.at)) joined.failed = failed;
  }
  return joined;
}

function setLater(
  joined: Conversation,
  field: 'inbound_at' | 'entry_at' | 'free_entry_at',
  at: Date | undefined,
): void {
  const known = joined[field];
  if (at && (!known || known < at)) joined[field] = at;
}
