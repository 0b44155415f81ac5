// The two-step PIN: its format, its storage, and which one registers a number.
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Target } from '@bmg/proto/common';
import type { Tools } from './tools';

const PIN = /^[0-9]{6}$/;

/** Contract 11.3: the two-step PIN has exactly 6 digits. Errors never contain the value. */
export function checkPin(pin: string): void {
  if (!PIN.test(pin)) throw invalidField('pin', 'must be exactly 6 digits');
}

/** The key of a number's client record; an unregistered number has none. */
const scopeOf = ({ partner_id, waba_id }: Target, phone_number_id: string) => ({
  partner_id,
  waba_id,
  phone_number_id,
});

/**
 * The request's PIN, else the one stored for the number, else PLATFORM_PIN for a registered number.
 * A wrong PIN would use up one of few attempts, so that there is no default for other numbers.
 */
export async function choosePin(
  { directory, credentials, platform_pin }: Tools,
  request: { pin?: string | undefined; target: Target; phone_number_id: string },
  call: Call,
): Promise<string> {
  if (request.pin !== undefined) return request.pin;
  const { target, phone_number_id } = request;
  const { pin } = await directory.getPin(scopeOf(target, phone_number_id), call);
  if (pin !== undefined) return pin;
  await credentials.of({ ...target, phone_number_id }, call).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'WABA_NOT_REGISTERED') throw error;
    throw missingFields(
      ['pin'],
      'pin is required: no PIN is stored for this number, which is not registered here',
    );
  });
  return platform_pin;
}

/**
 * Stores a PIN that the upstream has accepted; false when the number is not the client's own. A
 * failure is reported although the PIN is set: an older stored PIN would be wrong from now on, and
 * a repeat is safe.
 */
export async function storePin(
  { directory }: Tools,
  request: { pin: string; target: Target; phone_number_id: string },
  call: Call,
): Promise<boolean> {
  const { pin, target, phone_number_id } = request;
  try {
    const { stored } = await directory.storePin({ ...scopeOf(target, phone_number_id), pin }, call);
    return stored;
  } catch (error) {
    throw new ApiError(
      'SERVICE_UNAVAILABLE',
      'the PIN is set upstream but could not be stored here: send the same request again',
      { details: { pin_set: true, pin_stored: false }, retryable: true, cause: error },
    );
  }
}
