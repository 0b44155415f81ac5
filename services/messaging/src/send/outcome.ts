// FindOutcome: the result of a send whose answer was lost, from its message record, which the send itself or a
// later status event has stored.
import { needTarget } from '@bmg/common/upstream';
import { normalisePhone, parseBsuid } from '@bmg/common/ids';
import type { Contact, FindOutcomeRequest, FindOutcomeResponse } from '@bmg/proto/messaging';
import type { Contacts } from '../contacts';
import type { Messages } from '../messages';

export interface OutcomeDependencies {
  messages: Pick<Messages, 'findByRequest'>;
  contacts: Pick<Contacts, 'find'>;
}

export async function findOutcome(
  { messages, contacts }: OutcomeDependencies,
  { target, request_id }: FindOutcomeRequest,
): Promise<FindOutcomeResponse> {
  // A request id is not secret: a send of another partner or number counts as unknown.
  const record = await messages.findByRequest(needTarget(target), request_id);
  if (!record) return {};
  const { message_id, message_status, waba_id, recipient } = record;
  const named = await contactsOf(contacts, waba_id, recipient);
  return { result: { message_id, message_status, contacts: named } };
}

/** The contacts of the upstream's answer, as well as the service knows them. */
async function contactsOf(
  contacts: Pick<Contacts, 'find'>,
  waba_id: string,
  recipient: string,
): Promise<Contact[]> {
  const user_id = parseBsuid(recipient);
  if (user_id !== null) return [{ input: user_id, user_id }];
  const phone = normalisePhone(recipient);
  if (phone === null) return [];
  const known = await contacts.find(waba_id, phone);
  return [{ input: phone, wa_id: known?.wa_id ?? phone }];
}
