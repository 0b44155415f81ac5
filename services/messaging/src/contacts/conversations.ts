// Stores facts about conversations: at once if the next pre-flight needs them, else later in a
// batch.
import type { ConversationFact } from './contact-changes';
import type { Contacts } from './store';
import type { RecentConversations } from './recent-conversations';

export interface Conversing {
  contacts: Pick<Contacts, 'apply' | 'noteLate'>;
  recentConversations: RecentConversations;
}

/** Stores the facts that statuses report about conversations. */
export async function noteFacts(
  { contacts, recentConversations }: Conversing,
  facts: ConversationFact[],
): Promise<void> {
  const due = facts.filter((fact) => recentConversations.isDue(fact));
  await contacts.apply(due.map((note) => ({ note })));
  for (const fact of due) recentConversations.add(fact);
}

/** Stores the messages that waited. Those that cannot be stored now are lost, as after a crash. */
export async function noteLate({ contacts, recentConversations }: Conversing): Promise<void> {
  await Promise.all(
    recentConversations.takeLate().map(async (fact) => {
      await contacts.noteLate(fact);
      recentConversations.add(fact);
    }),
  );
}
