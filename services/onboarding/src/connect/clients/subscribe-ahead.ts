// Subscribes an account before its clients are active, so that a client that is active receives
// events. The events that arrive in between belong to the partner, too: see open registrations.
import { wabaVersionKey, type Versions } from '@bmg/common/directory';
import { ApiError, rewrap } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Upstream } from '@bmg/common/upstream';
import type { OpenNumber, OpenRegistrations } from '../../ground/open-registrations';
import { subscribe } from '../upstream';

export interface SubscribeDependencies {
  openRegistrations: Pick<OpenRegistrations, 'open' | 'close'>;
  upstream: Upstream;
  versions: Versions;
  now: () => Date;
}

/**
 * How long the partner may take to repeat a registration whose subscription had no answer. The
 * upstream may have processed it, so the account's events go to the partner meanwhile.
 */
const REPEAT_WITHIN_MS = 24 * 3_600_000;

/**
 * Opens the registration of the numbers, which are of one account. The caller closes it once their
 * clients are active. A failure is retryable unless the upstream refused.
 */
export async function subscribeAhead(
  { openRegistrations, upstream, versions, now }: SubscribeDependencies,
  numbers: [OpenNumber, ...OpenNumber[]],
  token: string,
  call: Call,
): Promise<void> {
  const [{ waba_id }] = numbers;
  await openRegistrations.open(numbers, new Date(now().getTime() + REPEAT_WITHIN_MS));
  await versions.bump([wabaVersionKey(waba_id)]);
  try {
    await subscribe(upstream, waba_id, token, call);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const is_refused = error.upstream_code !== undefined && !error.retryable;
    // A subscription is idempotent, and a paid slot is not charged again.
    if (!is_refused) throw rewrap(error, { retryable: true });
    await openRegistrations.close(numbers);
    await versions.bump([wabaVersionKey(waba_id)]);
    throw error;
  }
}
