// Changes of contact records, and the writes that they make: one for each contact and batch. Pure.
import type { AnyBulkWriteOperation, Filter } from 'mongodb';
import { groupBy } from '@bmg/common/collections';

/** `traffic`: a message was exchanged. `sync`: the number is in the business's address book. */
type ContactSource = 'traffic' | 'sync';

/** Evidence that the platform has the number. */
export interface ContactFact {
  waba_id: string;
  phone: string;
  /** The platform's id of the number. For a synced contact the number itself. */
  wa_id: string;
  source: ContactSource;
  at: Date;
}

export interface ContactRemoval {
  waba_id: string;
  phone: string;
  /** Facts learned after this time stay. */
  at: Date;
  /** Removes only facts from this source. Defaults to any source. */
  source?: ContactSource;
  /** The spelling that the platform reported: a contact to which it gave another id stays. */
  reported_as?: string;
}

/** An occurrence between a number and a contact that a pre-flight needs. */
export interface ConversationFact {
  waba_id: string;
  phone_number_id: string;
  /** Digits of the phone number, or the BSUID if only that is known. */
  contact: string;
  /** The BSUID beside a phone number. */
  bsuid?: string;
  at: Date;
  kind: 'inbound' | 'entry' | 'free_entry' | 'failed';
  /** The upstream's code of a failure. */
  code?: number;
}

/** The platform gave the contact another BSUID: what is known of the old one is of the new one. */
interface BsuidChange {
  waba_id: string;
  /** At least one of these two is known. */
  phone?: string | undefined;
  from?: string | undefined;
  to: string;
}

/** `late`: the contact had a record. One that was purged meanwhile does not come back. */
export type ContactChange =
  | { learn: ContactFact }
  | { remove: ContactRemoval }
  | { follow: BsuidChange }
  | { note: ConversationFact; late?: true };

/** The events between one number and the contact. */
export interface Conversation {
  /** Time of the customer's last message, at most a quarter of an hour too early. */
  inbound_at?: Date;
  /** The customer's last message that came from an ad. */
  entry_at?: Date;
  /** The last status that the upstream priced as a free entry point. */
  free_entry_at?: Date;
  /** The last failure that is evidence about the customer. */
  failed?: { code: number; at: Date };
}

export interface ContactRecord {
  /** Account, and phone number or BSUID. */
  _id: string;
  /** The platform's id, from traffic. */
  wa_id?: string;
  in_address_book?: true;
  bsuid?: string;
  /** Keyed by phone_number_id. */
  numbers?: Record<string, Conversation>;
  /** The last event. */
  seen_at: Date;
}

type Operation = AnyBulkWriteOperation<ContactRecord>;
type OfContact = Exclude<ContactChange, { follow: BsuidChange }>;
type Fact = Exclude<OfContact, { remove: ContactRemoval }>;

const TIME_FIELD = {
  inbound: 'inbound_at',
  entry: 'entry_at',
  free_entry: 'free_entry_at',
} as const;

export const contactKey = (waba_id: string, contact: string): string => `${waba_id}/${contact}`;

/** A filter for the contacts of an account: `0` follows `/`. */
export const keysOfAccount = (waba_id: string) => ({ $gt: `${waba_id}/`, $lt: `${waba_id}0` });

function keyOfChange(change: OfContact): string {
  if ('note' in change) return contactKey(change.note.waba_id, change.note.contact);
  const { waba_id, phone } = 'learn' in change ? change.learn : change.remove;
  return contactKey(waba_id, phone);
}

/** `ordered`: a contact is written more than once, and the order of its writes decides. */
export function writesOf(changes: ContactChange[]): { operations: Operation[]; ordered: boolean } {
  const contacts = groupBy(
    changes.filter((change): change is OfContact => !('follow' in change)),
    keyOfChange,
  );
  const operations = [...contacts].flatMap(([key, of]) => operationsOf(key, of));
  // Last: records that the same batch wrote with the old BSUID get the new one, too.
  const follows = changes.flatMap((change) => ('follow' in change ? following(change.follow) : []));
  return {
    operations: [...operations, ...follows],
    ordered: operations.length > contacts.size || follows.length > 0,
  };
}

function operationsOf(key: string, changes: readonly OfContact[]): Operation[] {
  const operations: Operation[] = [];
  let facts: Fact[] = [];
  const flush = (): void => {
    if (facts.length > 0) operations.push(upsert(key, facts));
    facts = [];
  };
  for (const change of changes) {
    if ('remove' in change) {
      flush();
      operations.push(...removal(key, change.remove));
    } else facts.push(change);
  }
  flush();
  return operations;
}

function upsert(key: string, facts: Fact[]): Operation {
  const set: Record<string, unknown> = {};
  const latest: Record<string, Date> = {};
  const seen = (field: string, at: Date): void => {
    const known = latest[field];
    if (!known || known < at) latest[field] = at;
  };
  for (const fact of facts) {
    if ('learn' in fact) {
      const { source, wa_id, at } = fact.learn;
      if (source === 'traffic') set['wa_id'] = wa_id;
      else set['in_address_book'] = true;
      seen('seen_at', at);
      continue;
    }
    const { phone_number_id, bsuid, kind, at, code = 0 } = fact.note;
    const conversation = `numbers.${phone_number_id}`;
    if (bsuid !== undefined) set['bsuid'] = bsuid;
    if (kind === 'failed') set[`${conversation}.failed`] = { code, at };
    else seen(`${conversation}.${TIME_FIELD[kind]}`, at);
    seen('seen_at', at);
  }
  return {
    updateOne: {
      filter: { _id: key },
      update: { ...(Object.keys(set).length > 0 && { $set: set }), $max: latest },
      upsert: facts.some((fact) => !('note' in fact) || !fact.late),
    },
  };
}

/** Every record of the contact gets the new BSUID, by which it is found from then on. */
function following({ waba_id, phone, from, to }: BsuidChange): Operation[] {
  const update = { $set: { bsuid: to } };
  const keys = [phone, from].flatMap((one) => (one === undefined ? [] : contactKey(waba_id, one)));
  const byKey = { updateMany: { filter: { _id: { $in: keys } }, update } };
  if (from === undefined) return [byKey];
  return [byKey, { updateMany: { filter: { bsuid: from, _id: keysOfAccount(waba_id) }, update } }];
}

/** A contact without conversations is deleted, another one is only unknown to the platform. */
function removal(key: string, { at, source, reported_as }: ContactRemoval): Operation[] {
  const filter: Filter<ContactRecord> = { _id: key, seen_at: { $lte: at } };
  // `null` finds contacts without an id.
  if (reported_as !== undefined) filter.wa_id = { $in: [reported_as, null as never] };
  const absent = { $exists: false };
  return [
    {
      updateOne: {
        filter,
        update: { $unset: { in_address_book: '', ...(source !== 'sync' && { wa_id: '' }) } },
      },
    },
    { deleteOne: { filter: { ...filter, wa_id: absent, numbers: absent } } },
    // Written by version 2.9.2, which had the number of a synced contact in `wa_id`.
    ...(source === 'sync'
      ? [{ deleteOne: { filter: { ...filter, source: 'sync', numbers: absent } as object } }]
      : []),
  ];
}
