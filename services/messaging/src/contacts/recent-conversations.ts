// Remembers which conversations were stored recently. A customer who writes again within a quarter of an
// hour costs no write now: the latest message is kept here and stored later, with others.
import { LRUCache } from '@bmg/common/cache';
import type { ConversationFact } from './contact-changes';

export interface RecentConversations {
  /** False if the fact adds nothing, or can wait: then it is kept for `takeLate`. */
  isDue(fact: ConversationFact): boolean;
  /** Records that the fact was stored. */
  add(fact: ConversationFact): void;
  /** Hands over the facts that waited. */
  takeLate(): ConversationFact[];
}

/** A customer's last message may be stored with a time that is this much too old. */
export const LATE_MS = 15 * 60_000;
/** About 250 bytes each. */
const RECENT_MAX = 100_000;
/** About 500 bytes each. Beyond it facts are written at once. */
const LATE_MAX = 10_000;

export function createRecentConversations(): RecentConversations {
  const recent = new LRUCache<string, number>({ max: RECENT_MAX });
  const late = new Map<string, ConversationFact>();
  return {
    isDue(fact) {
      if (fact.kind === 'failed') return true;
      const key = keyOf(fact);
      const newer_ms = fact.at.getTime() - (recent.get(key) ?? -Infinity);
      if (newer_ms <= 0) return false;
      if (newer_ms >= LATE_MS || late.size >= LATE_MAX) return true;
      const waiting = late.get(key);
      if (!waiting || waiting.at < fact.at) late.set(key, fact);
      return false;
    },
    add(fact) {
      // A customer who writes after a failure can be reached again: that is stored at once.
      if (fact.kind === 'failed') recent.delete(keyOf({ ...fact, kind: 'inbound' }));
      else recent.set(keyOf(fact), fact.at.getTime());
    },
    takeLate() {
      const facts = [...late.values()];
      late.clear();
      return facts;
    },
  };
}

const keyOf = ({ waba_id, phone_number_id, contact, kind }: ConversationFact): string =>
  `${waba_id}/${phone_number_id}/${contact}/${kind}`;
