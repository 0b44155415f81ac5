import { createPoller } from '@bmg/common/lifecycle';
import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { MessagingDefinition } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { applyContacts } from './apply';
import { factsOfStatuses } from './conversation-facts';
import { noteFacts, noteLate } from './conversations';
import { lookupContact } from './lookup';
import { createRecentConversations, LATE_MS } from './recent-conversations';

export function contactBook(deps: Dependencies): Feature {
  const { contacts, recent, now, log } = deps;
  const conversing = { contacts, recentConversations: createRecentConversations() };
  const storeLate = (): Promise<void> => noteLate(conversing);
  return {
    rpcs: [
      implementPart(MessagingDefinition, {
        lookupContact: (request) => lookupContact(contacts, request),
      }),
    ],
    consumers: {
      status: (batch) => noteFacts(conversing, factsOfStatuses(batch)),
      contact: applyContacts({ ...conversing, recent, now }),
    },
    // Another process may have stored and removed contacts of partitions that come back.
    onAssigned: () => recent.clear(),
    buffers: [
      {
        name: 'contacts',
        start: () => contacts.start(new Date()),
        async stop() {
          const noted = storeLate().catch((error: unknown) =>
            log.warn({ err: error }, 'failed to store contacts'),
          );
          await Promise.all([noted, contacts.drain()]);
        },
      },
    ],
    workers: [createPoller('late contacts', LATE_MS, storeLate, log)],
  };
}
