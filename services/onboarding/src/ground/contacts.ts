// The contacts of a partner, the addresses to which the operator writes (the gateway sends no
// mail), and the form of e-mail addresses.
import type { PartnerContacts } from '@bmg/proto/settings';
import { domainToASCII } from 'node:url';
import { invalidField, missingFields } from '@bmg/common/errors';

const CONTACT_ROLES = ['technical', 'billing'] as const;
type ContactRole = (typeof CONTACT_ROLES)[number];

export type Contacts = Partial<Record<ContactRole, string | null>>;
/** Each address is set by its path, so that two changes at the same time both last. */
export type ContactsChange = Partial<Record<`contacts.${ContactRole}`, string | null>>;

/** The change to store; an empty address removes. Throws INVALID_FIELD naming the field. */
export function contactsChange(given: PartnerContacts | undefined): ContactsChange {
  const change: ContactsChange = {};
  for (const role of CONTACT_ROLES) {
    const address = given?.[role];
    if (address === undefined) continue;
    const field = `contacts.${role}` as const;
    change[field] = address.trim() === '' ? null : checkEmail(address, field);
  }
  return change;
}

const EMAIL_MAX = 254;
const LOCAL_PART = /^[^\s\p{Cc}@"(),:;<>[\]\\]{1,64}$/u;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;

/** The address in lower case, the domain in ASCII. Throws naming `field`. */
export function checkEmail(text: string, field = 'email'): string {
  const email = text.trim().normalize('NFC').toLowerCase();
  if (email === '') throw missingFields([field]);
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, Math.max(at, 0)), domainToASCII(email.slice(at + 1))];
  const normal = `${local}@${domain}`;
  if (!LOCAL_PART.test(local) || !DOMAIN.test(domain) || normal.length > EMAIL_MAX) {
    throw invalidField(field, 'must be an e-mail address, for example ada@example.com');
  }
  return normal;
}
