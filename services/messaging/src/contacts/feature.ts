import { createPoller } from '@bmg/common/lifecycle';
import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import {
  MessagingDefinition,
  type LookupContactRequest,
  type LookupContactResponse,
} from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { applyContacts, factsOfStatuses, noteFacts, noteLate } from './apply';
import { createRecentConversations, LATE_MS } from './recent';
import { invalidField } from '@bmg/common/errors';
import { normalisePhone } from '@bmg/common/ids';
import { needTarget } from '@bmg/common/upstream';
import type { Contacts } from './store';

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

/**
 * GET /contacts/{phone}. The upstream offers no contact check, so the answer comes from sends,
 * inbound messages and contact sync (contract 3.9). An unknown number does not exist; the service
 * never guesses.
 */
export async function lookupContact(
  contacts: Pick<Contacts, 'find'>,
  request: LookupContactRequest,
): Promise<LookupContactResponse> {
  const target = needTarget(request.target);
  const phone = normalisePhone(request.phone);
  if (phone === null) throw invalidField('phone', 'is not a phone number in international format');
  const found = await contacts.find(target.waba_id, phone);
  return { phone, exists: found !== null, wa_id: found?.wa_id };
}
