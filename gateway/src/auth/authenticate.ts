// Finds the partner that a key belongs to. Answers are cached under the partner's directory
// version.
import { ApiError } from '@bmg/common/errors';
import { isWellFormedKey, PARTNER_KEY_PREFIX, type Peppers } from '@bmg/common/keys';
import {
  VersionedCache,
  invalidKey,
  loadOne,
  refuseUnlessActive,
  type Load,
} from '@bmg/common/directory';
import type { Call, Client } from '@bmg/common/rpc';
import type {
  AuthenticateManyResponse,
  AuthenticateResponse,
  DirectoryDefinition,
} from '@bmg/proto/onboarding';
import type { HashRenewal } from './hash-renewal';
import type { LookUps } from './look-ups';
import { isExpired } from './restriction';

export type Caller = AuthenticateResponse;

export interface KnownCaller {
  /** Every hash under which the key may be stored, the newest first. */
  key_hashes: KeyHashes;
  caller: Caller;
  /** The version under which the caller is cached; undefined when the entry is too old. */
  version?: string | undefined;
}

type KeyHashes = [string, ...string[]];

export type Authenticator = ReturnType<typeof createAuthenticator>;

const ENTRIES_MAX = 20_000;
/** The most hashes that onboarding takes in one batch. */
const AT_ONCE_MAX = 1_000;

export function createAuthenticator(
  directory: Client<DirectoryDefinition>,
  peppers: Peppers,
  look_ups: LookUps,
  renewal: HashRenewal,
) {
  const callersOf = async (
    key_hashes: string[],
    call: Call,
  ): Promise<AuthenticateManyResponse['callers']> => {
    const parts: string[][] = [];
    for (let from = 0; from < key_hashes.length; from += AT_ONCE_MAX) {
      parts.push(key_hashes.slice(from, from + AT_ONCE_MAX));
    }
    const answers = await Promise.all(
      parts.map((key_hashes) =>
        directory.authenticateMany({ key_hashes, restrictions: true }, call),
      ),
    );
    return Object.assign(
      {},
      ...answers.map(({ callers }) => callers),
    ) as AuthenticateManyResponse['callers'];
  };
  const load: Load<KeyHashes, Caller> = async (keys, call) => {
    const callers = await callersOf(keys.flat(), call);
    return keys.map((key_hashes) => {
      const stored = key_hashes.find((key_hash) => callers[key_hash] !== undefined);
      if (stored === undefined) return invalidKey();
      renewal.renew(stored, key_hashes[0]);
      return callers[stored] as Caller;
    });
  };
  const cache = new VersionedCache(ENTRIES_MAX, load);
  const authenticate = (key_hashes: KeyHashes, call: Call): Promise<Caller> =>
    loadOne(load, key_hashes, call);
  return {
    /** The caller as last cached, stale or not: it has a bucket. Throws for an unknown key. */
    async identify(key: string, address: string, call: Call): Promise<KnownCaller> {
      if (!isWellFormedKey(key, PARTNER_KEY_PREFIX)) throw invalidKey();
      const key_hashes = peppers.hashes(key);
      const [key_hash] = key_hashes;
      const cached = cache.peek(key_hash);
      if (cached) return { key_hashes, caller: cached, version: cache.versionOf(key_hash) };
      const look = (): Promise<Caller> =>
        cache.get(key_hash, '?', () => authenticate(key_hashes, call));
      return { key_hashes, caller: await look_ups.run(key_hash, address, look) };
    },
    /**
     * The caller under the version that the bucket returned; throws when it may not call now. A
     * refused key is forgotten.
     */
    async confirm(
      { key_hashes }: KnownCaller,
      version: string | undefined,
      call: Call,
    ): Promise<Caller> {
      const [key_hash] = key_hashes;
      try {
        const fetch = (): Promise<Caller> => authenticate(key_hashes, call);
        const caller = await cache.get(key_hash, version, fetch, key_hashes);
        if (isExpired(caller.restriction, Date.now())) throw invalidKey();
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
