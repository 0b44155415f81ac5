// Applies the topics `contact` and `status`: the facts about phone numbers and conversations that
// webhooks report.
import type { Received } from '@bmg/common/bus';
import { normalisePhone, spellingsOf } from '@bmg/common/ids';
import {
  Contacts_Contact_Kind as Kind,
  type Contacts as ContactRecords,
  type Contacts_Contact,
  type Statuses,
  type Statuses_Status,
} from '@bmg/proto/stream';
import type { ContactChange, ContactRemoval, ConversationFact } from './contact-changes';
import type { RecentConversations } from './recent';
import type { Dependencies, Needs } from '../dependencies';

/**
 * Returns the handler of the topic `contact`. All changes of a contact are in one partition, so
 * while this process has the partition, `recent` misses none.
 */
export const applyContacts =
  (deps: Conversing & Pick<Dependencies, 'recent' | 'now'>) =>
  async (batch: Received<ContactRecords>[]): Promise<void> => {
    const { contacts, recent, recentConversations } = deps;
    const at = deps.now();
    const changes = batch.flatMap(({ message: { waba_id, contacts: reported } }) =>
      reported.flatMap((contact): ContactChange[] => [
        ...changesOf(waba_id, contact),
        ...bsuidChange(waba_id, contact),
        ...inboundFacts(waba_id, contact).map((note) => ({ note })),
      ]),
    );
    const effective = changes.filter((change) => {
      if ('note' in change) return recentConversations.isDue(change.note);
      if ('learn' in change) return !recent.covers(change.learn, at);
      if ('follow' in change) return true;
      if (recent.outdates(change.remove)) return false;
      // Facts after the removal are stored again.
      recent.remove(change.remove);
      return true;
    });
    await contacts.apply(effective);
    for (const change of effective) {
      if ('note' in change) recentConversations.add(change.note);
      else if ('learn' in change) recent.add(change.learn, at);
      else if ('remove' in change) recent.remove(change.remove);
    }
  };

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
      return removals({ ...about, at: new Date(at_ms + CLOCK_SKEW_MS) });
    case Kind.KIND_SYNCED:
      return [{ learn: { ...about, wa_id: phone, source: 'sync' } }];
    case Kind.KIND_TRAFFIC:
      return [{ learn: { ...about, wa_id: wa_id ?? phone, source: 'traffic' } }];
    case Kind.KIND_UNSPECIFIED:
    case Kind.UNRECOGNIZED:
      return [];
  }
}

function bsuidChange(
  waba_id: string,
  { phone, bsuid: from, next_bsuid: to }: Contacts_Contact,
): ContactChange[] {
  if (to === undefined || waba_id === '') return [];
  return [{ follow: { waba_id, phone: normalisePhone(phone) ?? undefined, from, to } }];
}

/** A send may have stored the number in its other spelling, too. */
const removals = (removal: ContactRemoval): ContactChange[] =>
  spellingsOf(removal.phone).map((phone) => ({
    remove: phone === removal.phone ? removal : { ...removal, phone, reported_as: removal.phone },
  }));

/** Failures that the next send to the same customer would meet again; see `preflight/recipients.ts`. */
const CUSTOMER_FAILURES: ReadonlySet<string> = new Set(['131026', '131050']);
const FREE_ENTRY = 'free_entry_point';

/** When a customer wrote to a number, and whether from an ad. Empty for other kinds of contacts. */
export function inboundFacts(waba_id: string, record: Contacts_Contact): ConversationFact[] {
  const { phone_number_id, bsuid, from_ad, timestamp } = record;
  const phone = normalisePhone(record.phone);
  const contact = phone ?? bsuid;
  if (phone_number_id === undefined || contact === undefined) return [];
  const fact = {
    waba_id,
    phone_number_id,
    contact,
    ...(phone !== null && bsuid !== undefined && { bsuid }),
    at: new Date(timestamp * 1_000),
  };
  return [{ ...fact, kind: 'inbound' }, ...(from_ad ? [{ ...fact, kind: 'entry' as const }] : [])];
}

/** The facts in failures about customers, and the messages that were free because of an ad. */
export const factsOfStatuses = (batch: Received<Statuses>[]): ConversationFact[] =>
  batch.flatMap(({ message: { waba_id, phone_number_id, statuses } }) =>
    phone_number_id === undefined
      ? []
      : statuses.flatMap((status) => outcome({ waba_id, phone_number_id }, status)),
  );

function outcome(
  number: Pick<ConversationFact, 'waba_id' | 'phone_number_id'>,
  { recipient = '', error_code = '', pricing_type, timestamp }: Statuses_Status,
): ConversationFact[] {
  const contact = normalisePhone(recipient) ?? recipient;
  const fact = { ...number, contact, at: new Date(timestamp * 1_000) };
  if (contact === '') return [];
  if (CUSTOMER_FAILURES.has(error_code)) {
    return [{ ...fact, kind: 'failed', code: Number(error_code) }];
  }
  return pricing_type === FREE_ENTRY ? [{ ...fact, kind: 'free_entry' }] : [];
}

type Conversing = Needs<{ contacts: 'apply' | 'noteLate' }> & {
  recentConversations: RecentConversations;
};

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
