// The recipient of a message (contract 4.1 to 4.5), and the contacts of a broadcast (contract 9.2).
// The gateway checks the contacts of a REST body, so that a fault names the field the partner
// wrote; the broadcasts service checks those of every caller.
import { invalidField, missingFields, ApiError } from '../errors';
import { normalisePhone, parseBsuid } from '../ids';

export type Recipient = { phone: string } | { bsuid: string };

export const RECIPIENT_MISSING = 'either to or recipient is required';

/**
 * `to` holds a phone number or a BSUID, which is recognised by its form; `user_id` and its alias
 * `recipient` hold a BSUID; a phone number wins. Throws MISSING_FIELDS without a recipient,
 * INVALID_FIELD for one that is malformed.
 */
export function resolveRecipient(named: {
  to?: string | undefined;
  user_id?: string | undefined;
}): Recipient {
  const to = named.to?.trim();
  const user_id = named.user_id?.trim();
  if (!to && !user_id) throw missingFields(['to', 'recipient'], RECIPIENT_MISSING);
  if (to) {
    const recipient = parseContact(to);
    if (recipient) return recipient;
    throw invalidField('to', INVALID_CONTACT);
  }
  const bsuid = parseBsuid(user_id as string);
  if (bsuid) return { bsuid };
  throw invalidField('recipient', 'is not a BSUID');
}

/** The upstream's keys for a recipient. */
export const upstreamAddress = (recipient: Recipient): { to: string } | { recipient: string } =>
  'phone' in recipient ? { to: recipient.phone } : { recipient: recipient.bsuid };

/** Contract 9.2: contacts per broadcast. */
const CONTACTS_MAX = 10_000;
/** Faults reported beside the first: enough to see a pattern. */
const FURTHER_FAULTS_MAX = 20;

/** Throws TOO_MANY_CONTACTS; cheap, however long the list is. */
export function checkContactCount({ length }: { readonly length: number }): void {
  if (length <= CONTACTS_MAX) return;
  throw new ApiError('TOO_MANY_CONTACTS', `a broadcast takes at most ${CONTACTS_MAX} contacts`, {
    details: { field: 'contacts', limit: CONTACTS_MAX },
  });
}

export const INVALID_CONTACT = 'is neither a phone number in international format nor a BSUID';

/** Null when the text is neither a BSUID, which is looked for first, nor a phone number. */
export function parseContact(text: string): Recipient | null {
  const bsuid = parseBsuid(text);
  if (bsuid !== null) return { bsuid };
  const phone = normalisePhone(text);
  return phone === null ? null : { phone };
}

/** Collects the faults of many contacts and reports the first ones in one error. */
export class ContactFaults {
  private readonly faults: ApiError[] = [];

  /** `further_max`: how many are kept beside the first. */
  constructor(private readonly further_max = FURTHER_FAULTS_MAX) {}

  list(): readonly ApiError[] {
    return this.faults;
  }

  /** True once further faults would not be reported. */
  isFull(): boolean {
    return this.faults.length > this.further_max;
  }

  add(field: string, problem: string): void {
    if (!this.isFull()) this.faults.push(invalidField(field, problem));
  }

  /** Takes an INVALID_FIELD that was thrown for one contact; rethrows anything else. */
  addThrown(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    if (!this.isFull()) this.faults.push(error);
  }

  /** Throws INVALID_FIELD for the first fault; `details.also` names the fields of the next 20. */
  throwIfAny(): void {
    const [first, ...others] = this.faults;
    if (!first) return;
    const also = others.map(fieldOf);
    throw new ApiError('INVALID_FIELD', first.message, {
      details: { field: fieldOf(first), ...(also.length > 0 && { also }) },
    });
  }
}

const fieldOf = ({ details }: ApiError): unknown => (details as { field?: unknown } | null)?.field;

/** Contact cards that the upstream takes in a message. */
export const CONTACT_CARDS_MAX = 257;
