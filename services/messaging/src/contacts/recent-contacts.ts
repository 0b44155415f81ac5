// The contacts stored within the last hour: storing them again would change nothing.
import { LRUCache } from '@bmg/common/cache';
import type { ContactFact, ContactRemoval } from './contact-changes';

type Contact = Pick<ContactFact, 'waba_id' | 'phone'>;

export interface RecentContacts {
  /** True if storing the fact would change nothing. Remembers its time. */
  covers(fact: ContactFact, now: Date): boolean;
  /** True if a later fact of the contact is known, whose time may not be stored. */
  outdates(removal: ContactRemoval): boolean;
  add(fact: ContactFact, now: Date): void;
  remove(contact: Contact): void;
  clear(): void;
}

const RECENT_MS = 3_600_000;
/** About 250 bytes each. */
const RECENT_MAX = 100_000;

interface Stored extends Pick<ContactFact, 'wa_id' | 'source'> {
  stored_ms: number;
  /** The latest fact's time. */
  seen_ms: number;
}

export function createRecentContacts(): RecentContacts {
  const recent = new LRUCache<string, Stored>({ max: RECENT_MAX });
  return {
    covers(fact, now) {
      const stored = recent.get(keyOf(fact));
      if (!stored || now.getTime() - stored.stored_ms >= RECENT_MS) return false;
      stored.seen_ms = Math.max(stored.seen_ms, fact.at.getTime());
      // An address book never overwrites facts from traffic.
      const isWeaker = stored.source === 'traffic' && fact.source === 'sync';
      return isWeaker || (stored.source === fact.source && stored.wa_id === fact.wa_id);
    },
    outdates: (removal) =>
      (recent.get(keyOf(removal))?.seen_ms ?? -Infinity) > removal.at.getTime(),
    add(fact, now) {
      const { wa_id, source, at } = fact;
      recent.set(keyOf(fact), { wa_id, source, stored_ms: now.getTime(), seen_ms: at.getTime() });
    },
    remove: (contact) => void recent.delete(keyOf(contact)),
    clear: () => recent.clear(),
  };
}

const keyOf = ({ waba_id, phone }: Contact): string => `${waba_id}/${phone}`;
