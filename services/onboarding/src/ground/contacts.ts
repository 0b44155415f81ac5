// The contacts of a partner: the addresses to which the operator writes. The gateway sends no mail.
import type { PartnerContacts } from '@bmg/proto/settings';
import { checkEmail } from './email';

const CONTACT_ROLES = ['technical', 'billing'] as const;
type ContactRole = (typeof CONTACT_ROLES)[number];

export type Contacts = Partial<Record<ContactRole, string | null>>;
/** Each address is set by its path, so that two changes at the same time both last. */
export type ContactsChange = Partial<Record<`contacts.${ContactRole}`, string | null>>;

/**
 * Returns the change that stores the given addresses; an empty one removes. Throws INVALID_FIELD
 * naming the field, such as `contacts.billing`.
 */
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

/** Returns the stored contacts as a message; an absent address is unset. */
export const contactsMessage = ({ technical, billing }: Contacts = {}): PartnerContacts => ({
  technical: technical ?? undefined,
  billing: billing ?? undefined,
});
