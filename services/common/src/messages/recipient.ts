// Resolves the recipient of a message. Contract 4.1 to 4.4: `to` holds a phone number
// or a BSUID, which is recognised by its form; `user_id` and its alias `recipient` hold a BSUID; a
// phone number wins.
import { invalidField, missingFields } from '../errors';
import { normalisePhone, parseBsuid } from '../ids';

export type Recipient = { phone: string } | { bsuid: string };

export const RECIPIENT_MISSING = 'either to or recipient is required';

/** Throws MISSING_FIELDS without a recipient, INVALID_FIELD for one that is malformed. */
export function resolveRecipient(named: {
  to?: string | undefined;
  user_id?: string | undefined;
}): Recipient {
  const to = named.to?.trim();
  const user_id = named.user_id?.trim();
  if (!to && !user_id) throw missingFields(['to', 'recipient'], RECIPIENT_MISSING);
  if (to) {
    const bsuid = parseBsuid(to);
    if (bsuid) return { bsuid };
    const phone = normalisePhone(to);
    if (phone) return { phone };
    throw invalidField('to', 'is neither a phone number in international format nor a BSUID');
  }
  const bsuid = parseBsuid(user_id as string);
  if (bsuid) return { bsuid };
  throw invalidField('recipient', 'is not a BSUID');
}

/** The upstream's keys for a recipient. */
export const upstreamAddress = (recipient: Recipient): { to: string } | { recipient: string } =>
  'phone' in recipient ? { to: recipient.phone } : { recipient: recipient.bsuid };
