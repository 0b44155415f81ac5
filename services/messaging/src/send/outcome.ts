// What is known of a send whose answer was lost on the way: asked for by its request id, answered from the
// record, whether the send itself has written it or a status event has brought it back.
import { needTarget } from '@bmg/common/upstream';
import { normalisePhone, parseBsuid } from '@bmg/common/ids';
import type { Contact, FindOutcomeRequest, FindOutcomeResponse } from '@bmg/proto/messaging';
import type { Contacts } from '../store/contacts';
import type { Messages } from '../store/messages';

export interface OutcomeDependencies {
  messages: Pick<Messages, 'findByRequest'>;
  contacts: Pick<Contacts, 'find'>;
}

export async function findOutcome(
  { messages, contacts }: OutcomeDependencies,
  { target, request_id }: FindOutcomeRequest,
): Promise<FindOutcomeResponse> {
  const { partner_id } = needTarget(target);
  const record = await messages.findByRequest(request_id);
  // A request id is no secret: another partner's says nothing.
  if (!record || record.partner_id !== partner_id) return {};
  const { message_id, waba_id, recipient } = record;
  return { result: { message_id, contacts: await contactsOf(contacts, waba_id, recipient) } };
}

/** As the upstream would have told them, as far as it is known. */
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
