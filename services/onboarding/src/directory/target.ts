// Which of an account's numbers a call is for (contract 2.3).
import { ApiError, invalidField } from '@bmg/common/errors';
import type { Client } from '../store/clients';

/**
 * The same answer for an unknown, a deleted and another partner's account: they must look alike.
 */
export const notRegistered = (): ApiError =>
  new ApiError('WABA_NOT_REGISTERED', 'x-waba-id names no business account registered with you');

/**
 * `active` holds the active clients of one account. Throws where the call must name the number and
 * does not.
 */
export function chooseNumber(active: Client[], phone_number_id: string | undefined): Client {
  const [first, second] = active;
  if (!first) throw notRegistered();
  if (phone_number_id !== undefined) {
    const named = active.find((client) => client.phone_number_id === phone_number_id);
    if (!named) throw invalidField('x-phone-number-id', 'does not belong to the WABA');
    return named;
  }
  if (second) {
    throw new ApiError(
      'UPSTREAM_ERROR',
      'this business account has several numbers: send the header x-phone-number-id',
      { retryable: false, details: { field: 'x-phone-number-id' } },
    );
  }
  return first;
}
