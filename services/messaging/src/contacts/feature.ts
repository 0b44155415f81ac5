import type { Received } from '@bmg/common/bus';
import { createPoller, type Component } from '@bmg/common/lifecycle';
import type { Handlers } from '@bmg/common/rpc';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { Statuses } from '@bmg/proto/stream';
import type { Dependencies } from '../dependencies';
import { factsOfStatuses } from './conversation-facts';
import { applyContacts } from './apply';
import { noteFacts, noteLate } from './conversations';
import { lookupContact } from './lookup';
import { createRecentConversations, LATE_MS } from './recent-conversations';

export interface ContactsFeature {
  handlers: Pick<Handlers<MessagingDefinition>, 'lookupContact'>;
  applyContacts: ReturnType<typeof applyContacts>;
  applyStatuses(this: void, batch: Received<Statuses>[]): Promise<void>;
  /** Stores the changes that wait in memory. */
  storeLate(this: void): Promise<void>;
  components: Component[];
}

export function wireContacts(deps: Dependencies): ContactsFeature {
  const { contacts, recent, now, log } = deps;
  const conversing = { contacts, recentConversations: createRecentConversations() };
  const storeLate = (): Promise<void> => noteLate(conversing);
  return {
    handlers: {
      lookupContact: (q) => lookupContact(contacts, q),
    },
    applyContacts: applyContacts({ ...conversing, recent, now }),
    applyStatuses: (batch: Received<Statuses>[]) => noteFacts(conversing, factsOfStatuses(batch)),
    storeLate,
    components: [createPoller('late contacts', LATE_MS, storeLate, log)],
  };
}
