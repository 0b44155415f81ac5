// Reads the body of POST /broadcasts: the REST spellings become the service's one spelling. The
// rules for contacts, and for their number, are in common/messages.
import { invalidField } from '@bmg/common/errors';
import {
  checkContactCount,
  ContactFaults,
  INVALID_CONTACT,
  parseContact,
} from '@bmg/common/messages';
import { inTurns } from '@bmg/common/lifecycle';
import type { createBroadcast } from './schemas';
import type { Fields, Target } from '../endpoint';
import { RECIPIENT_MAX } from '../parts/inputs';
import type { Static } from '../parts/schema';

/** `faults` collects those of the contacts. */
export const createRequest = async (
  { body, target }: { body: Static<typeof createBroadcast>; target: Target },
  faults?: ContactFaults,
) => ({
  name: body.name,
  template_name: body.template_name,
  template_language: body.template_language,
  template_components: body.template_components ?? [],
  contacts: await readContacts(body.contacts as unknown[], faults),
  scheduled_at: readTime(body.scheduled_at),
  target,
});

export interface Contact {
  recipient?: string | undefined;
  params?: Fields | undefined;
}

interface NamedRecipient {
  text: string;
  isPhone: boolean;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Throws TOO_MANY_CONTACTS, or INVALID_FIELD for the first faults together, each with its contact.
 */
async function readContacts(contacts: unknown[], faults = new ContactFaults()): Promise<Contact[]> {
  checkContactCount(contacts);
  const read: Contact[] = [];
  await inTurns(contacts, (contact, place) =>
    read.push(readContact(contact, `contacts[${place}]`, faults)),
  );
  faults.throwIfAny();
  return read;
}

/**
 * Contract 4.5: a phone number, a BSUID or an object. A contact without a recipient is
 * passed on, so that the service counts it as skipped.
 */
function readContact(contact: unknown, where: string, faults: ContactFaults): Contact {
  if (typeof contact === 'string')
    return { recipient: readRecipient(contact, where, faults)?.text };
  if (!isObject(contact)) {
    faults.add(where, 'must be a string or an object');
    return {};
  }
  const named = (['to', 'recipient', 'user_id'] as const).flatMap((key) => {
    const value = contact[key];
    if (value === undefined || value === null) return [];
    const found = readRecipient(value, `${where}.${key}`, faults);
    if (found?.isPhone && key === 'user_id') faults.add(`${where}.${key}`, 'is not a BSUID');
    return found ?? [];
  });
  // Contract 4.3: a phone number wins over a BSUID.
  const winner = named.find(({ isPhone }) => isPhone) ?? named[0];
  return {
    recipient: winner?.text,
    params: readParams(contact['params'], `${where}.params`, faults),
  };
}

/** Undefined for a blank text, and for a text that is no recipient, which is a fault. */
function readRecipient(
  value: unknown,
  where: string,
  faults: ContactFaults,
): NamedRecipient | undefined {
  if (typeof value !== 'string' || value.length > RECIPIENT_MAX) {
    faults.add(where, INVALID_CONTACT);
    return undefined;
  }
  const text = value.trim();
  if (text === '') return undefined;
  const parsed = parseContact(text);
  if (parsed === null) {
    faults.add(where, INVALID_CONTACT);
    return undefined;
  }
  return 'phone' in parsed
    ? { text: parsed.phone, isPhone: true }
    : { text: parsed.bsuid, isPhone: false };
}

/** An array is a short form of the keys 1, 2 and so on. */
function readParams(params: unknown, where: string, faults: ContactFaults): Fields | undefined {
  if (params === undefined || params === null) return undefined;
  if (isObject(params)) return params;
  if (Array.isArray(params)) {
    return Object.fromEntries(params.map((value: unknown, at) => [String(at + 1), value]));
  }
  faults.add(where, 'must be an object or an array');
  return undefined;
}

const ISO_WITH_ZONE =
  /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i;

/** The service refuses a time in the past. */
function readTime(value: string | null | undefined): Date | undefined {
  if (value === undefined || value === null) return undefined;
  const match = ISO_WITH_ZONE.exec(value);
  const time = match && new Date(withColon(value.toUpperCase()));
  if (!time || Number.isNaN(time.getTime()) || !isDay(match)) {
    throw invalidField('scheduled_at', 'must be an ISO 8601 date-time with a time zone');
  }
  return time;
}

const withColon = (text: string): string => text.replace(/([+-]\d{2})(\d{2})$/, '$1:$2');

/** Date would read 30 February as 2 March. */
function isDay([, year, month, day]: RegExpExecArray | string[]): boolean {
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) >= 1 && Number(day) <= days;
}
