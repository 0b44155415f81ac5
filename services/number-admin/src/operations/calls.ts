// Calls: the body is passed on unchanged, in its own order, with the messaging product. The
// upstream validates the rest.
import { missingFields } from '@bmg/common/errors';
import { needTarget, without, type Json } from '@bmg/common/upstream';
import { outcome } from '../requests';
import type { Part, Tools } from '../tools';

const isFilled = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/**
 * Calling and groups: `to` for connect, `call_id` for terminate. A BSUID is called by `recipient`.
 */
function checkCall(call: Json): void {
  const { action, to, recipient, call_id } = call;
  if (!isFilled(action)) throw missingFields(['action']);
  if (action === 'connect' && !isFilled(to) && !isFilled(recipient)) throw missingFields(['to']);
  if (action === 'terminate' && !isFilled(call_id)) throw missingFields(['call_id']);
}

export const calls = ({ ask, credentials }: Tools): Part<'placeCall'> => ({
  async placeCall(request, call) {
    const given = without(request.call ?? {}, 'messaging_product');
    checkCall(given);
    // Only a new call counts as a send: a running one can be answered and ended even while sending
    // is stopped.
    if (given['action'] === 'connect') {
      await credentials.forSending(needTarget(request.target), call);
    }
    const body = await ask(
      {
        upstream: 'POST /{phone_number_id}/calls',
        body: { messaging_product: 'whatsapp', ...given },
        send: true,
      },
      request,
      call,
    );
    return outcome(body);
  },
});
