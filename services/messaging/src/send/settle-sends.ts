// SettleSends: outcomes of claimed sends whose answers the caller did not receive. Fences first and reads
// the records afterwards: a record that is stored in between still counts. A request id is not secret:
// another partner's record settles nothing.
import { invalidField } from '@bmg/common/errors';
import type { SettleSendsRequest, SettleSendsResponse } from '@bmg/proto/messaging';
import type { Messages } from '../messages';
import { outcomeOf, type SendClaims } from '../claims';

export interface SettleDependencies {
  sendClaims: Pick<SendClaims, 'fence'>;
  messages: Pick<Messages, 'findByRequest'>;
}

/** The contacts of one chunk of a broadcast. */
const SENDS_MAX = 500;

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
