// The contacts of a new broadcast: read, normalised, each person once. Nothing here does any I/O.
import { ApiError, invalidField } from '@bmg/common/errors';
import { normalisePhone, parseBsuid } from '@bmg/common/ids';
import type { BroadcastContact } from '@bmg/proto/broadcasts';
import { CONTACTS_MAX } from '../broadcast-machine';
import { readParams, type Filler, type Params } from '../template/params';

export interface Contact {
  /** Digits of a phone number, or a BSUID. */
  recipient: string;
  params: Params | null;
}

export interface ReadContacts {
  contacts: Contact[];
  /** The place of each contact in the request, for messages about it. */
  places: number[];
  /** Contacts that name nobody. */
  skipped: number;
  /** Contacts that were there already; the first one counts. */
  duplicates: number;
}

/** Throws TOO_MANY_CONTACTS, or INVALID_FIELD naming the first contact that is wrong and some others. */
export function readContacts(given: readonly BroadcastContact[], filler: Filler): ReadContacts {
  if (given.length > CONTACTS_MAX) throw tooMany();
  const read: ReadContacts = { contacts: [], places: [], skipped: 0, duplicates: 0 };
  const known = new Set<string>();
  const faults: ApiError[] = [];
  for (const [place, contact] of given.entries()) {
    try {
      readContact(contact, place, filler, known, read);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      faults.push(error);
      if (faults.length > FAULTS_SHOWN_MAX) break;
    }
  }
  if (faults.length > 0) throw together(faults);
  return read;
}

/** Enough to see a pattern; a list of thousands helps nobody. */
const FAULTS_SHOWN_MAX = 20;

const tooMany = (): ApiError =>
  new ApiError('TOO_MANY_CONTACTS', `a broadcast takes at most ${CONTACTS_MAX} contacts`, {
    details: { field: 'contacts', limit: CONTACTS_MAX },
  });

function readContact(
  contact: BroadcastContact,
  place: number,
  filler: Filler,
  known: Set<string>,
  read: ReadContacts,
): void {
  const named = contact.recipient?.trim();
  // Recipient rules 5: a contact with neither is skipped.
  if (!named) {
    read.skipped += 1;
    return;
  }
  // A BSUID is told by its shape before anything is taken for a phone number.
  const recipient = parseBsuid(named) ?? normalisePhone(named);
  if (recipient === null) {
    throw invalidField(
      `contacts[${place}].recipient`,
      'is neither a phone number in international format nor a BSUID',
    );
  }
  if (known.has(recipient)) {
    read.duplicates += 1;
    return;
  }
  const where = `contacts[${place}].params`;
  const params = readParams(contact.params, where);
  // What cannot be filled is found now, not when the message is due.
  filler.check(params, where);
  known.add(recipient);
  read.contacts.push({ recipient, params });
  read.places.push(place);
}

function together([first, ...others]: ApiError[]): ApiError {
  const field = (error: ApiError | undefined): unknown =>
    (error?.details as { field?: unknown } | null)?.field;
  const also = others.slice(0, FAULTS_SHOWN_MAX).map(field);
  return new ApiError('INVALID_FIELD', first?.message ?? 'contacts are wrong', {
    details: { field: field(first), ...(also.length > 0 && { also }) },
  });
}

export const isBsuid = (recipient: string): boolean => parseBsuid(recipient) !== null;
