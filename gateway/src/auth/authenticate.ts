// The partner behind a key. Callers are cached under the partner's directory version, which goes stale
// with every change of the partner.
import { ApiError } from '@bmg/common/errors';
import { hashKey, isWellFormedKey, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import { createVersionedCache, refuseUnlessActive } from '@bmg/common/directory';
import type { Call, Client } from '@bmg/common/rpc';
import type { AuthenticateResponse, DirectoryDefinition } from '@bmg/proto/onboarding';

export type Caller = AuthenticateResponse;

export interface Authenticator {
  /** The caller as last cached, stale or not: enough to find its bucket. Throws for an unknown key. */
  identify(key: string, call: Call): Promise<KnownCaller>;
  /** The caller under the version that the bucket returned; throws when it may not call now. */
  confirm(known: KnownCaller, version: string | undefined, call: Call): Promise<Caller>;
}

export interface KnownCaller {
  key_hash: string;
  caller: Caller;
}

const ENTRIES_MAX = 20_000;

export function createAuthenticator(
  directory: Client<DirectoryDefinition>,
  pepper: string,
): Authenticator {
  const cache = createVersionedCache<Caller>(ENTRIES_MAX);
  const authenticate = (key_hash: string, call: Call): Promise<Caller> =>
    directory.authenticate({ key_hash }, call);
  return {
    async identify(key, call) {
      if (!isWellFormedKey(key, PARTNER_KEY_PREFIX)) throw invalidKey();
      const key_hash = hashKey(key, pepper);
      const caller =
        cache.peek(key_hash) ??
        (await cache.get(key_hash, '?', () => authenticate(key_hash, call)));
      return { key_hash, caller };
    },
    async confirm({ key_hash }, version, call) {
      const caller = await cache.get(key_hash, version, () => authenticate(key_hash, call));
      refuseUnlessActive(caller.status);
      return caller;
    },
  };
}

const invalidKey = (): ApiError =>
  new ApiError('INVALID_PARTNER_KEY', 'x-partner-key is not a valid key');
