// The rules for the contacts of a broadcast (contract 4.5, 9.2). The gateway
// applies them to the REST body, so that a fault names the field the partner wrote; the broadcasts
// service applies them to every caller.
import { ApiError, invalidField } from '../errors';
import { normalisePhone, parseBsuid } from '../ids';
import type { Recipient } from './recipient';

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

/**
 * Null when the text is neither a BSUID nor a phone number. BSUIDs are recognised by their shape,
 * first.
 */
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
