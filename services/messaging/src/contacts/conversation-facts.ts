// Reads the facts that a pre-flight needs about a conversation from statuses and contacts. No I/O.
import type { Received } from '@bmg/common/bus';
import { normalisePhone } from '@bmg/common/ids';
import type { Contacts_Contact, Statuses, Statuses_Status } from '@bmg/proto/stream';
import type { ConversationFact } from './contact-changes';

/** Failures that the next send to the same customer would meet again; see `reasons.ts`. */
const CUSTOMER_FAILURES: ReadonlySet<string> = new Set(['131026', '131050']);
const FREE_ENTRY = 'free_entry_point';

/** When a customer wrote to a number, and whether from an ad. Empty for other kinds of contacts. */
export function inboundFacts(waba_id: string, record: Contacts_Contact): ConversationFact[] {
  const { phone_number_id, bsuid, from_ad, timestamp } = record;
  const phone = normalisePhone(record.phone);
  const contact = phone ?? bsuid;
  if (phone_number_id === undefined || contact === undefined) return [];
  const fact = {
    waba_id,
    phone_number_id,
    contact,
    ...(phone !== null && bsuid !== undefined && { bsuid }),
    at: new Date(timestamp * 1_000),
  };
  return [{ ...fact, kind: 'inbound' }, ...(from_ad ? [{ ...fact, kind: 'entry' as const }] : [])];
}

/** The facts in failures about customers, and the messages that were free because of an ad. */
export const factsOfStatuses = (batch: Received<Statuses>[]): ConversationFact[] =>
  batch.flatMap(({ message: { waba_id, phone_number_id, statuses } }) =>
    phone_number_id === undefined
      ? []
      : statuses.flatMap((status) => outcome({ waba_id, phone_number_id }, status)),
  );

function outcome(
  number: Pick<ConversationFact, 'waba_id' | 'phone_number_id'>,
  { recipient = '', error_code = '', pricing_type, timestamp }: Statuses_Status,
): ConversationFact[] {
  const contact = normalisePhone(recipient) ?? recipient;
  const fact = { ...number, contact, at: new Date(timestamp * 1_000) };
  if (contact === '') return [];
  if (CUSTOMER_FAILURES.has(error_code)) {
    return [{ ...fact, kind: 'failed', code: Number(error_code) }];
  }
  return pricing_type === FREE_ENTRY ? [{ ...fact, kind: 'free_entry' }] : [];
}
