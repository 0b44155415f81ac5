// Outcomes of sends whose answers were lost. FindOutcome: from the message record, which the send
// itself or a later status event has stored. SettleSends: of claimed sends.
import { needTarget } from '@bmg/common/upstream';
import { normalisePhone, parseBsuid } from '@bmg/common/ids';
import type {
  Contact,
  FindOutcomeRequest,
  FindOutcomeResponse,
  SettleSendsRequest,
  SettleSendsResponse,
} from '@bmg/proto/messaging';
import type { Contacts } from '../contacts';
import { invalidField } from '@bmg/common/errors';
import type { Needs } from '../dependencies';

export type OutcomeDependencies = Needs<{ messages: 'findByRequest'; contacts: 'find' }>;

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

export type SettleDependencies = Needs<{ messages: 'findByRequest'; sendClaims: 'fence' }>;

/** The contacts of one chunk of a broadcast. */
const SENDS_MAX = 500;

/**
 * Fences first and reads the records afterwards: a record that is stored in between still counts,
 * and outweighs the fence. A request id is not secret: another partner's record settles nothing.
 */
export async function settleSends(
  { sendClaims, messages }: SettleDependencies,
  { partner_id, waba_id, phone_number_id, sends }: SettleSendsRequest,
): Promise<SettleSendsResponse> {
  if (sends.length > SENDS_MAX)
    throw invalidField('sends', `must have at most ${SENDS_MAX} entries`);
  const fenced = await sendClaims.fence({ partner_id, waba_id }, sends);
  const records = await Promise.all(
    sends.map(({ request_id }) =>
      messages.findByRequest({ partner_id, phone_number_id }, request_id),
    ),
  );
  return {
    sends: sends.map(({ request_id }, at) => {
      const record = records[at] ?? undefined;
      return {
        request_id,
        outcome: outcomeOf({ recorded: record !== undefined, fenced: fenced.has(request_id) }),
        message_id: record?.message_id,
      };
    }),
  };
}

/** `recorded`: the answer or a status event has made a message record. It outweighs a fence. */
export const outcomeOf = (send: { recorded: boolean; fenced: boolean }): string =>
  send.recorded ? 'sent' : send.fenced ? 'not_sent' : 'unknown';
