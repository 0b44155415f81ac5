// GET /contacts/{phone}. The upstream offers no contact check, so the answer comes from sends, inbound messages
// and contact sync (contract 3.9). An unknown number does not exist; the service never guesses.
import { invalidField } from '@bmg/common/errors';
import { normalisePhone } from '@bmg/common/ids';
import { needTarget } from '@bmg/common/upstream';
import type { LookupContactRequest, LookupContactResponse } from '@bmg/proto/messaging';
import type { Contacts } from './store';

export async function lookupContact(
  contacts: Pick<Contacts, 'find'>,
  request: LookupContactRequest,
): Promise<LookupContactResponse> {
  const target = needTarget(request.target);
  const phone = normalisePhone(request.phone);
  if (phone === null) throw invalidField('phone', 'is not a phone number in international format');
  const found = await contacts.find(target.waba_id, phone);
  return { phone, exists: found !== null, wa_id: found?.wa_id };
}
