// Joins what is stored of the two spellings of one number. Records keep the spelling in which the
// number was met. An id that the upstream gave overrides the rule: two spellings with ids of their
// own are two people.
import { isSameNumber } from '@bmg/common/ids';
import type { ContactRecord, Conversation } from './contact-changes';

type Identified = Pick<ContactRecord, '_id' | 'wa_id'>;

const contactOf = ({ _id }: Identified): string => _id.slice(_id.indexOf('/') + 1);

/** Records of one account, found by the spellings of a contact: that of the contact is first. */
export function recordsOf<R extends Identified>(contact: string, records: readonly R[]): R[] {
  const own = records.find((record) => contactOf(record) === contact);
  const others = records.filter(
    (record) =>
      record !== own &&
      isSameNumber(contactOf(record), contact) &&
      (own?.wa_id === undefined || record.wa_id === undefined || own.wa_id === record.wa_id),
  );
  return own ? [own, ...others] : others;
}

/** The latest of each. */
export function joinConversations(
  all: ReadonlyArray<Conversation | undefined>,
): Conversation | undefined {
  const known = all.filter((one) => one !== undefined);
  if (known.length < 2) return known[0];
  const joined: Conversation = {};
  for (const { inbound_at, entry_at, free_entry_at, failed } of known) {
    setLater(joined, 'inbound_at', inbound_at);
    setLater(joined, 'entry_at', entry_at);
    setLater(joined, 'free_entry_at', free_entry_at);
    if (failed && (!joined.failed || joined.failed.at < failed.at)) joined.failed = failed;
  }
  return joined;
}

function setLater(
  joined: Conversation,
  field: 'inbound_at' | 'entry_at' | 'free_entry_at',
  at: Date | undefined,
): void {
  const known = joined[field];
  if (at && (!known || known < at)) joined[field] = at;
}
