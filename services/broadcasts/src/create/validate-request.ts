// Validates a request to create a broadcast, apart from its template, and reads its contacts:
// normalised, and each recipient once. No I/O.
import { invalidField, missingFields } from '@bmg/common/errors';
import {
  ContactFaults,
  checkContactCount,
  INVALID_CONTACT,
  parseContact,
} from '@bmg/common/messages';
import type { CreateBroadcastRequest, BroadcastContact } from '@bmg/proto/broadcasts';
import { createFiller, type Filler, readParams } from '../template';
import { numberKey } from '@bmg/common/ids';
import { inTurns } from '@bmg/common/lifecycle';
import type { Contact } from '../ground/types';

export type ValidRequest = ReadContacts & { filler: Filler };

/** The components are filled in for every contact. */
const COMPONENTS_BYTES_MAX = 64 * 1024;

/** Reports all missing fields first (Contract 3.3), then the first field that is wrong. */
export async function validateRequest(
  request: Omit<CreateBroadcastRequest, 'target'>,
  now: Date,
  faults?: ContactFaults,
): Promise<ValidRequest> {
  const missing: string[] = (['name', 'template_name', 'template_language'] as const).filter(
    (field) => request[field].trim() === '',
  );
  if (request.contacts.length === 0) missing.push('contacts');
  if (missing.length > 0) throw missingFields(missing);
  validateTime(request.scheduled_at, now);
  if (Buffer.byteLength(JSON.stringify(request.template_components)) > COMPONENTS_BYTES_MAX) {
    throw invalidField('template_components', `is larger than ${COMPONENTS_BYTES_MAX} bytes`);
  }
  const filler = createFiller(request.template_components);
  const read = await readContacts(request.contacts, filler, faults);
  // All of them were blank.
  if (read.contacts.length === 0) throw missingFields(['contacts']);
  return { ...read, filler };
}

function validateTime(scheduled_at: Date | undefined, now: Date): void {
  if (scheduled_at === undefined) return;
  if (Number.isNaN(scheduled_at.getTime())) throw invalidField('scheduled_at', 'is not a date');
  if (scheduled_at <= now) throw invalidField('scheduled_at', 'lies in the past');
}

interface ReadContacts {
  contacts: Contact[];
  /** The place of each contact in the request, for error messages. */
  places: number[];
  /** Contacts without a recipient. */
  skipped: number;
  /** Contacts whose recipient was given before, in any spelling; the first one counts. */
  duplicates: number;
}

/**
 * Throws TOO_MANY_CONTACTS, or INVALID_FIELD for the first wrong contact, naming up to 20 others.
 */
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
