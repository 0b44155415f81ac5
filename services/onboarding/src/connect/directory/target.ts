// Which of an account's numbers a call is for (contract 2.3).
import { notRegistered } from '@bmg/common/directory';
import { ApiError, invalidField } from '@bmg/common/errors';
import type { Client } from '../../ground/clients';

/**
 * `active` holds the active clients of one account. Throws if the call names
 * another number, or none although the account has several.
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
