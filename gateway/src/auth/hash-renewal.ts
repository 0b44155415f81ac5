// Renews stored hashes of partner keys that were made with an older pepper. No request waits for
// it.
import { LRUCache } from '@bmg/common/cache';
import { ownCall, type Client } from '@bmg/common/rpc';
import { unsampled, type Logger } from '@bmg/common/telemetry';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';

export type HashRenewal = ReturnType<typeof createHashRenewal>;

const CALL_LIMIT_MS = 5_000;
/** A renewal that fails or is refused is requested again after this time. */
const AGAIN_MS = 60_000;
const ENTRIES_MAX = 20_000;

export function createHashRenewal(
  directory: Pick<Client<DirectoryDefinition>, 'renewKeyHash'>,
  log: Pick<Logger, 'warn'>,
) {
  const requested = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: AGAIN_MS });
  return {
    /** Replaces the stored hash of a valid key, unless it is the newest. Returns at once. */
    renew(stored: string, newest: string): void {
      if (stored === newest || requested.has(stored)) return;
      requested.set(stored, true);
      directory
        .renewKeyHash({ key_hash: stored, newest }, ownCall(unsampled(), CALL_LIMIT_MS))
        .catch((error: unknown) => log.warn({ err: error }, 'failed to renew a key hash'));
    },
  };
}
