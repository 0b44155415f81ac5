// The two-step PIN: its shape, where it is kept, and which one registers a number.
import { ApiError, invalidField } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Target } from '@bmg/proto/common';
import type { Tools } from './tools';

const PIN = /^[0-9]{6}$/;

/** Limits: the two-step PIN has exactly 6 digits. The value itself is never in a message. */
export function checkPin(pin: string): void {
  if (!PIN.test(pin)) throw invalidField('pin', 'must be exactly 6 digits');
}

/** The client record of a number; one that nobody has registered has none. */
const scopeOf = ({ partner_id, waba_id }: Target, phone_number_id: string) => ({
  partner_id,
  waba_id,
  phone_number_id,
});

/** The request's own PIN, else the one stored for that number, else the platform's. */
export async function choosePin(
  { directory, platform_pin }: Pick<Tools, 'directory' | 'platform_pin'>,
  request: { pin?: string | undefined; target: Target; phone_number_id: string },
  call: Call,
): Promise<string> {
  if (request.pin !== undefined) return request.pin;
  const { pin } = await directory.getPin(scopeOf(request.target, request.phone_number_id), call);
  return pin ?? platform_pin;
}

/**
 * Keeps a PIN that the upstream has taken; false when the number is not the client's own. A failure is told,
 * though the PIN is set: an older stored one would be wrong from now on, and repeating is harmless.
 */
export async function storePin(
  { directory }: Pick<Tools, 'directory'>,
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
