// Conversations: when a customer last wrote to a number, from which entry point, and why the last send to
// the customer failed. Written from events, read by the check before a send.
import { LRUCache } from '@bmg/common/cache';
import type { AnyBulkWriteOperation, Collection, Db, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';

export interface Conversation {
  /** The customer's last message, up to a minute older than it is. */
  inbound_at?: Date;
  /** The customer's last message that came from an ad. */
  entry_at?: Date;
  /** The last status that the upstream priced as a free entry point. */
  free_entry_at?: Date;
  /** The last failure that says something about the customer. */
  failed?: { code: number; at: Date };
}

export interface ConversationFact {
  waba_id: string;
  phone_number_id: string;
  /** Digits of the phone number, or the BSUID where only that is known. */
  contact: string;
  /** The BSUID beside a phone number. */
  bsuid?: string;
  at: Date;
  kind: 'inbound' | 'entry' | 'free_entry' | 'failed';
  /** Of a failure: the upstream's code. */
  code?: number;
}

export interface Conversations {
  start(now: Date): Promise<void>;
  apply(facts: ConversationFact[]): Promise<void>;
  /** By contact; contacts are phone numbers or BSUIDs. */
  find(scope: ConversationScope, contacts: readonly string[]): Promise<Map<string, Conversation>>;
  /** Since when events are recorded here. */
  recordedSince(): Promise<Date>;
}

export interface ConversationScope {
  waba_id: string;
  phone_number_id: string;
}

type ConversationRecord = Conversation & {
  _id: string;
  phone_number_id?: string;
  contact?: string;
  bsuid?: string;
  seen_at?: Date;
  started_at?: Date;
};

const KEPT_DAYS = 30;
const DAY_S = 86_400;
/** A message less than this long after the recorded one is not written. */
const PRECISION_MS = 60_000;
const RECENT_MAX = 20_000;
const IDS_AT_ONCE = 2_000;
/** Holds when the first event was recorded. */
const STARTED = '#started';

export const CONVERSATIONS = 'conversations';
export const conversationIndexes: IndexDescription[] = [
  { key: { bsuid: 1, phone_number_id: 1 }, sparse: true },
  { key: { seen_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
];

const FIELD = { inbound: 'inbound_at', entry: 'entry_at', free_entry: 'free_entry_at' } as const;

const idOf = ({ waba_id, phone_number_id }: ConversationScope, contact: string): string =>
  `${waba_id}/${phone_number_id}/${contact}`;

const collection = (db: Db): Collection<ConversationRecord> => db.collection(CONVERSATIONS);

export function createConversations(db: Db): Conversations {
  const conversations = collection(db);
  const recent = new LRUCache<string, number>({ max: RECENT_MAX });

  const write = async (operations: AnyBulkWriteOperation<ConversationRecord>[]): Promise<void> => {
    try {
      await conversations.bulkWrite(operations, { ordered: false });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Another process created one of the documents first: the repetition updates it.
      await conversations.bulkWrite(operations, { ordered: false });
    }
  };

  return {
    async start(now) {
      await write([
        {
          updateOne: {
            filter: { _id: STARTED },
            update: { $setOnInsert: { started_at: now } },
            upsert: true,
          },
        },
      ]);
    },
    async apply(facts) {
      const fresh = facts.filter(
        (fact) => fact.at.getTime() - (recent.get(keyOf(fact)) ?? 0) >= PRECISION_MS,
      );
      if (fresh.length === 0) return;
      await write(fresh.map(operation));
      for (const fact of fresh) recent.set(keyOf(fact), fact.at.getTime());
    },
    async find(scope, contacts) {
      const found = new Map<string, Conversation>();
      for (let at = 0; at < contacts.length; at += IDS_AT_ONCE) {
        const some = contacts.slice(at, at + IDS_AT_ONCE);
        const bsuids = some.filter((contact) => contact.includes('.'));
        const byId = { _id: { $in: some.map((contact) => idOf(scope, contact)) } };
        const { phone_number_id } = scope;
        const records = await conversations
          .find(
            bsuids.length === 0
              ? byId
              : { $or: [byId, { bsuid: { $in: bsuids }, phone_number_id }] },
          )
          .limit(2 * IDS_AT_ONCE)
          .toArray();
        for (const record of records) {
          if (record.contact) found.set(record.contact, record);
          if (record.bsuid) found.set(record.bsuid, record);
        }
      }
      return found;
    },
    async recordedSince() {
      const found = await conversations.findOne({ _id: STARTED });
      return found?.started_at ?? new Date();
    },
  };
}

const keyOf = (fact: ConversationFact): string => `${idOf(fact, fact.contact)}/${fact.kind}`;

function operation(fact: ConversationFact): AnyBulkWriteOperation<ConversationRecord> {
  const { phone_number_id, contact, bsuid, at, kind, code = 0 } = fact;
  return {
    updateOne: {
      filter: { _id: idOf(fact, contact) },
      update: {
        ...((bsuid !== undefined || kind === 'failed') && {
          $set: {
            ...(bsuid !== undefined && { bsuid }),
            ...(kind === 'failed' && { failed: { code, at } }),
          },
        }),
        $setOnInsert: { phone_number_id, contact },
        $max: { seen_at: at, ...(kind !== 'failed' && { [FIELD[kind]]: at }) },
      },
      upsert: true,
    },
  };
}
