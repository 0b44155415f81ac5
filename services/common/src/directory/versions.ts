// Directory versions: every change of a partner or business account writes a new random value to
// Redis, which makes cached answers of other versions stale. Random rather than counted, so that a
// Redis that lost its data cannot repeat an old version.
import { randomBytes } from 'node:crypto';
import { pause } from '../lifecycle';
import type { Logger } from '../telemetry';
import type { RedisConnection } from '../redis/open';

/** The maximum age of a cached answer, whatever its version. */
export const CACHE_LIFE_MS = 3_000;
/** The maximum age while Redis is unavailable, because changes are not announced then. */
export const CACHE_LIFE_ALONE_MS = 1_000;
/** Far longer than any cache entry; versions of deleted partners expire. */
const VERSION_LIFE_S = 7 * 86_400;

export const partnerVersionKey = (partner_id: string): string => `bmg:{${partner_id}}:version`;
export const wabaVersionKey = (waba_id: string): string => `bmg:{w:${waba_id}}:version`;

export interface Versions {
  /**
   * The current versions of the keys ('' for one that never changed); undefined while Redis is
   * unavailable.
   */
  current(keys: string[]): Promise<string[] | undefined>;
  /**
   * Announces a change after it was stored. If Redis is unavailable, waits until all cached entries
   * have expired, so that the change is in effect when the caller answers.
   */
  bump(keys: string[]): Promise<void>;
}

export function createVersions(connection: RedisConnection, log: Logger): Versions {
  return {
    async current(keys) {
      if (!connection.up()) return undefined;
      try {
        const values = await Promise.all(keys.map((key) => connection.redis.get(key)));
        return values.map((value) => value ?? '');
      } catch {
        return undefined;
      }
    },
    async bump(keys) {
      const version = randomBytes(9).toString('base64url');
      try {
        await Promise.all(
          keys.map((key) => connection.redis.set(key, version, 'EX', VERSION_LIFE_S)),
        );
      } catch (error) {
        log.warn(
          { err: error },
          'failed to announce directory change, waiting for caches to expire',
        );
        await pause(CACHE_LIFE_MS);
      }
    },
  };
}
