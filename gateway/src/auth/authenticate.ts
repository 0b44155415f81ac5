// Finds the partner that a key belongs to. Answers are cached under the partner's directory version.
import { ApiError } from '@bmg/common/errors';
import { hashKey, isWellFormedKey, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import {
  createVersionedCache,
  invalidKey,
  loadOne,
  refuseUnlessActive,
  type Load,
} from '@bmg/common/directory';
import type { Call, Client } from '@bmg/common/rpc';
import type { AuthenticateResponse, DirectoryDefinition } from '@bmg/proto/onboarding';
import type { LookUps } from './look-ups';

export type Caller = AuthenticateResponse;

export interface Authenticator {
  /** The caller as last cached, stale or not: enough to find its bucket. Throws for an unknown key. */
  identify(key: string, address: string, call: Call): Promise<KnownCaller>;
  /**
   * The caller under the version that the bucket returned; throws when it may not call now. A refused
   * key is forgotten.
   */
  confirm(known: KnownCaller, version: string | undefined, call: Call): Promise<Caller>;
}

export interface KnownCaller {
  key_hash: string;
  caller: Caller;
  /** The version under which the caller is cached; undefined when the entry is too old. */
  version?: string | undefined;
}

const ENTRIES_MAX = 20_000;

export function createAuthenticator(
  directory: Client<DirectoryDefinition>,
  pepper: string,
  look_ups: LookUps,
): Authenticator {
  const load: Load<string, Caller> = async (key_hashes, call) => {
    const { callers } = await directory.authenticateMany({ key_hashes }, call);
    return key_hashes.map((key_hash) => callers[key_hash] ?? invalidKey());
  };
  const cache = createVersionedCache(ENTRIES_MAX, load);
  const authenticate = (key_hash: string, call: Call): Promise<Caller> =>
    loadOne(load, key_hash, call);
  return {
    async identify(key, address, call) {
      if (!isWellFormedKey(key, PARTNER_KEY_PREFIX)) throw invalidKey();
      const key_hash = hashKey(key, pepper);
      const cached = cache.peek(key_hash);
      if (cached) return { key_hash, caller: cached, version: cache.versionOf(key_hash) };
      const look = (): Promise<Caller> =>
        cache.get(key_hash, '?', () => authenticate(key_hash, call));
      return { key_hash, caller: await look_ups.run(key_hash, address, look) };
    },
    async confirm({ key_hash }, version, call) {
      try {
        const fetch = (): Promise<Caller> => authenticate(key_hash, call);
        const caller = await cache.get(key_hash, version, fetch, key_hash);
        refuseUnlessActive(caller.status);
        return caller;
      } catch (error) {
        if (error instanceof ApiError && error.http === 401) cache.delete(key_hash);
        look_ups.remember(key_hash, error);
        throw error;
      }
    },
  };
}
