// Reads the contacts of a new broadcast: normalised, and each recipient once. No I/O.
import { invalidField } from '@bmg/common/errors';
import { numberKey } from '@bmg/common/ids';
import { inTurns } from '@bmg/common/lifecycle';
import {
  checkContactCount,
  ContactFaults,
  INVALID_CONTACT,
  parseContact,
} from '@bmg/common/messages';
import type { BroadcastContact } from '@bmg/proto/broadcasts';
import type { Contact } from '../ground/contact';
import { readParams, type Filler } from '../template/params';

export interface ReadContacts {
  contacts: Contact[];
  /** The place of each contact in the request, for error messages. */
  places: number[];
  /** Contacts without a recipient. */
  skipped: number;
  /** Contacts whose recipient was given before, in any spelling; the first one counts. */
  duplicates: number;
}

/** Throws TOO_MANY_CONTACTS, or INVALID_FIELD for the first wrong contact, naming up to 20 others. */
export async function readContacts(
  given: readonly BroadcastContact[],
  filler: Filler,
  faults = new ContactFaults(),
): Promise<ReadContacts> {
  checkContactCount(given);
  const read: ReadContacts = { contacts: [], places: [], skipped: 0, duplicates: 0 };
  const known = new Set<string>();
  await inTurns(given, (contact, place) => {
    if (faults.isFull()) return;
    try {
      readContact(contact, place, filler, known, read);
    } catch (error) {
      faults.addThrown(error);
    }
  });
  faults.throwIfAny();
  return read;
}

function readContact(
  contact: BroadcastContact,
  place: number,
  filler: Filler,
  known: Set<string>,
  read: ReadContacts,
): void {
  const text = contact.recipient?.trim();
  // Contract 4.5: a contact without a recipient is skipped.
  if (!text) {
    read.skipped += 1;
    return;
  }
  const parsed = parseContact(text);
  if (parsed === null) throw invalidField(`contacts[${place}].recipient`, INVALID_CONTACT);
  const recipient = 'phone' in parsed ? parsed.phone : parsed.bsuid;
  const key = numberKey(recipient);
  if (known.has(key)) {
    read.duplicates += 1;
    return;
  }
  const where = `contacts[${place}].params`;
  const params = readParams(contact.params, where);
  // Checked now, so that no send fails later because a placeholder has no value.
  filler.check(params, where);
  known.add(key);
  read.contacts.push({ recipient, params });
  read.places.push(place);
}
