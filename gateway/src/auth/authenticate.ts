// Who is asking: the partner behind a key, remembered for a few seconds under the directory's version.
import { ApiError } from '@bmg/common/errors';
import { hashKey, isWellFormedKey, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import { createVersionedCache } from '@bmg/common/directory';
import type { Call, Client } from '@bmg/common/rpc';
import type { AuthenticateResponse, DirectoryDefinition } from '@bmg/proto/onboarding';

export type Caller = AuthenticateResponse;

export interface Authenticator {
  /** The caller as last known, whatever its version: enough to find its bucket. */
  first(key: string, call: Call): Promise<Known>;
  /** The caller under the version that the bucket returned; throws when it may not call now. */
  confirm(known: Known, version: string | undefined, call: Call): Promise<Caller>;
}

export interface Known {
  key_hash: string;
  caller: Caller;
}

const ENTRIES_MAX = 20_000;

export function createAuthenticator(
  directory: Client<DirectoryDefinition>,
  pepper: string,
): Authenticator {
  const cache = createVersionedCache<Caller>(ENTRIES_MAX);
  const ask = (key_hash: string, call: Call): Promise<Caller> =>
    directory.authenticate({ key_hash }, call);
  return {
    async first(key, call) {
      if (!isWellFormedKey(key, PARTNER_KEY_PREFIX)) throw invalidKey();
      const key_hash = hashKey(key, pepper);
      const caller =
        cache.peek(key_hash) ?? (await cache.get(key_hash, '?', () => ask(key_hash, call)));
      return { key_hash, caller };
    },
    async confirm({ key_hash }, version, call) {
      const caller = await cache.get(key_hash, version, () => ask(key_hash, call));
      refuse(caller.status);
      return caller;
    },
  };
}

const invalidKey = (): ApiError =>
  new ApiError('INVALID_PARTNER_KEY', 'x-partner-key is not a valid key');

function refuse(status: string): void {
  if (status === 'active') return;
  if (status === 'subscription_cancelled') {
    throw new ApiError('SUBSCRIPTION_CANCELLED', 'the subscription is cancelled');
  }
  if (status === 'trial_expired') throw new ApiError('TRIAL_EXPIRED', 'the trial is over');
  throw new ApiError('PARTNER_SUSPENDED', 'this partner account is suspended');
}
