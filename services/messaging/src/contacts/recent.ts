// Remembers what was stored recently: contacts, which would not change, and conversations. A
// customer who writes again within a quarter of an hour costs no write now: the latest message is
// kept here and stored later, with others.
import { LRUCache } from '@bmg/common/cache';
import type { ContactFact, ContactRemoval, ConversationFact } from './contact-changes';

type Contact = Pick<ContactFact, 'waba_id' | 'phone'>;

/** Storing a contact again within this time would change nothing. */
const RECENT_MS = 3_600_000;
/** About 250 bytes each. */
const RECENT_MAX = 100_000;

interface Stored extends Pick<ContactFact, 'wa_id' | 'source'> {
  stored_ms: number;
  /** The latest fact's time. */
  seen_ms: number;
}

export function createRecentContacts() {
  const recent = new LRUCache<string, Stored>({ max: RECENT_MAX });
  return {
    /** True if storing the fact would change nothing. Remembers its time. */
    covers(fact: ContactFact, now: Date): boolean {
      const stored = recent.get(keyOf(fact));
      if (!stored || now.getTime() - stored.stored_ms >= RECENT_MS) return false;
      stored.seen_ms = Math.max(stored.seen_ms, fact.at.getTime());
      // An address book never overwrites facts from traffic.
      const isWeaker = stored.source === 'traffic' && fact.source === 'sync';
      return isWeaker || (stored.source === fact.source && stored.wa_id === fact.wa_id);
    },
    /** True if a later fact of the contact is known, whose time may not be stored. */
    outdates: (removal: ContactRemoval): boolean =>
      (recent.get(keyOf(removal))?.seen_ms ?? -Infinity) > removal.at.getTime(),
    add(fact: ContactFact, now: Date): void {
      const { wa_id, source, at } = fact;
      recent.set(keyOf(fact), { wa_id, source, stored_ms: now.getTime(), seen_ms: at.getTime() });
    },
    remove: (contact: Contact): void => void recent.delete(keyOf(contact)),
    clear: (): void => recent.clear(),
  };
}

const keyOf = ({ waba_id, phone }: Contact): string => `${waba_id}/${phone}`;

/** A customer's last message may be stored with a time that is this much too old. */
export const LATE_MS = 15 * 60_000;
/** About 500 bytes each. Beyond it facts are written at once. */
const LATE_MAX = 10_000;

export function createRecentConversations() {
  const recent = new LRUCache<string, number>({ max: RECENT_MAX });
  const late = new Map<string, ConversationFact>();
  return {
    /** False if the fact adds nothing, or can wait: then it is kept for `takeLate`. */
    isDue(fact: ConversationFact): boolean {
      if (fact.kind === 'failed') return true;
      const key = conversationKey(fact);
      const newer_ms = fact.at.getTime() - (recent.get(key) ?? -Infinity);
      if (newer_ms <= 0) return false;
      if (newer_ms >= LATE_MS || late.size >= LATE_MAX) return true;
      const waiting = late.get(key);
      if (!waiting || waiting.at < fact.at) late.set(key, fact);
      return false;
    },
    add(fact: ConversationFact): void {
      // A customer who writes after a failure can be reached again: that is stored at once.
      if (fact.kind === 'failed') recent.delete(conversationKey({ ...fact, kind: 'inbound' }));
      else recent.set(conversationKey(fact), fact.at.getTime());
    },
    takeLate(): ConversationFact[] {
      const facts = [...late.values()];
      late.clear();
      return facts;
    },
  };
}

export type RecentConversations = ReturnType<typeof createRecentConversations>;

const conversationKey = ({ waba_id, phone_number_id, contact, kind }: ConversationFact): string =>
  `${waba_id}/${phone_number_id}/${contact}/${kind}`;
