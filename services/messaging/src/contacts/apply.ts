// Applies the topic `contact`: the facts that webhooks report about phone numbers.
import type { Received } from '@bmg/common/bus';
import { normalisePhone, spellingsOf } from '@bmg/common/ids';
import {
  Contacts_Contact_Kind as Kind,
  type Contacts as ContactRecords,
  type Contacts_Contact,
} from '@bmg/proto/stream';
import { inboundFacts } from './conversation-facts';
import type { ContactChange, ContactRemoval } from './contact-changes';
import type { Conversing } from './conversations';
import type { RecentContacts } from './recent-contacts';

/**
 * Returns the handler of the topic `contact`. All changes of a contact are in one partition, so
 * while this process has the partition, `recent` misses none.
 */
export const applyContacts =
  (deps: Conversing & { recent: RecentContacts; now: () => Date }) =>
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
