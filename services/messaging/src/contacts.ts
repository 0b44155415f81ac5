// GET /contacts/{phone}, and what the service learns about phone numbers. The upstream offers no contact
// check, so the answer comes from sends, inbound messages and contact sync (contract 3.9). An unknown
// number does not exist; the service never guesses.
import { needTarget } from '@bmg/common/upstream';
import type { Received } from '@bmg/common/bus';
import { invalidField } from '@bmg/common/errors';
import { normalisePhone } from '@bmg/common/ids';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Target } from '@bmg/proto/common';
import type { LookupContactRequest, LookupContactResponse, SendResult } from '@bmg/proto/messaging';
import {
  Contacts_Contact_Kind as Kind,
  type Contacts as ContactRecords,
  type Contacts_Contact,
} from '@bmg/proto/stream';
import { inboundFacts } from './check/conversation-facts';
import type { RecentContacts } from './recent-contacts';
import type { RecentConversations } from './recent-conversations';
import type { ContactChange, ContactFact, ConversationFact } from './store/contact-changes';
import type { Contacts } from './store/contacts';

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

export interface LearnDependencies {
  contacts: Pick<Contacts, 'learn'>;
  recent: RecentContacts;
  now: () => Date;
  log: Logger;
}

type Send<Q> = (request: Q, call: Call) => Promise<SendResult>;

/** Wraps a send handler so that the contacts in its answers are stored. */
export interface Learner {
  <Q extends { target?: Target | undefined }>(send: Send<Q>): Send<Q>;
}

/** Stores contacts in the background: the sender does not wait, and the next send retries a failed write. */
export function createLearner({ contacts, recent, now, log }: LearnDependencies): Learner {
  let failing = false;
  const learn = async (waba_id: string, phone: string, wa_id: string): Promise<void> => {
    const fact: ContactFact = { waba_id, phone, wa_id, source: 'traffic', at: now() };
    if (recent.covers(fact, fact.at)) return;
    recent.add(fact, fact.at);
    try {
      await contacts.learn(fact);
      failing = false;
    } catch (error) {
      recent.remove(fact);
      if (!failing) log.warn({ err: error }, 'failed to store contacts');
      failing = true;
    }
  };
  return (send) => async (request, call) => {
    const result = await send(request, call);
    for (const { input, wa_id } of result.contacts) {
      if (!request.target || !wa_id) continue;
      // The two differ in countries whose numbers the platform spells differently.
      for (const phone of new Set([normalisePhone(input), normalisePhone(wa_id)])) {
        if (phone !== null) void learn(request.target.waba_id, phone, wa_id);
      }
    }
    return result;
  };
}

export interface Conversing {
  contacts: Pick<Contacts, 'apply' | 'noteLate'>;
  recentConversations: RecentConversations;
}

/**
 * Returns the handler of the topic `contact`. All changes of a contact are in one partition, so
 * while this process has the partition, `recent` misses none.
 */
export const applyContacts =
  (deps: Conversing & Pick<LearnDependencies, 'recent' | 'now'>) =>
  async (batch: Received<ContactRecords>[]): Promise<void> => {
    const { contacts, recent, recentConversations } = deps;
    const at = deps.now();
    const changes = batch.flatMap(({ message: { waba_id, contacts: told } }) =>
      told.flatMap((contact): ContactChange[] => [
        ...changesOf(waba_id, contact),
        ...inboundFacts(waba_id, contact).map((note) => ({ note })),
      ]),
    );
    const effective = changes.filter((change) => {
      if ('note' in change) return recentConversations.isDue(change.note);
      if ('learn' in change) return !recent.covers(change.learn, at);
      if (recent.outdates(change.remove)) return false;
      // Facts after the removal are stored again.
      recent.remove(change.remove);
      return true;
    });
    await contacts.apply(effective);
    for (const change of effective) {
      if ('note' in change) recentConversations.add(change.note);
      else if ('learn' in change) recent.add(change.learn, at);
      else recent.remove(change.remove);
    }
  };

/** Stores what statuses tell of conversations. */
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

/** Our clock stamped the send, the upstream's clock its failure. */
const CLOCK_SKEW_MS = 5_000;

function changesOf(
  waba_id: string,
  { kind, phone: spelled, wa_id, timestamp }: Contacts_Contact,
): ContactChange[] {
  const phone = normalisePhone(spelled);
  if (phone === null || waba_id === '') return [];
  const at_ms = timestamp * 1_000;
  const about = { waba_id, phone, at: new Date(at_ms) };
  switch (kind) {
    case Kind.KIND_UNSYNCED:
      return [{ remove: { ...about, source: 'sync' } }];
    case Kind.KIND_UNDELIVERABLE:
      return [{ remove: { ...about, at: new Date(at_ms + CLOCK_SKEW_MS) } }];
    case Kind.KIND_SYNCED:
      return [{ learn: { ...about, wa_id: phone, source: 'sync' } }];
    case Kind.KIND_TRAFFIC:
      return [{ learn: { ...about, wa_id: wa_id ?? phone, source: 'traffic' } }];
    case Kind.KIND_UNSPECIFIED:
    case Kind.UNRECOGNIZED:
      return [];
  }
}
