// Directory versions: every change of a partner or business account writes a new random value to
// Redis, which makes cached answers of other versions stale. Random rather than counted, so that a
// Redis that lost its data cannot repeat an old version.
import { randomBytes } from 'node:crypto';
import { pause } from '../lifecycle';
import type { Logger } from '../telemetry';
import type { RedisConnection } from '../redis';

/** The maximum age of a cached answer, whatever its version. */
export const CACHE_LIFE_MS = 3_000;
/** The maximum age while Redis is unavailable, because changes are not announced then. */
export const CACHE_LIFE_ALONE_MS = 1_000;
/** Far longer than any cache entry; versions of deleted partners expire. */
const VERSION_LIFE_S = 7 * 86_400;

export const partnerVersionKey = (partner_id: string): string => `bmg:{${partner_id}}:version`;
export const wabaVersionKey = (waba_id: string): string => `bmg:{w:${waba_id}}:version`;

export type Versions = ReturnType<typeof createVersions>;

export function createVersions(connection: RedisConnection, log: Logger) {
  return {
    /** The current versions ('' for a key that never changed); undefined without Redis. */
    async current(keys: string[]): Promise<string[] | undefined> {
      if (!connection.up()) return undefined;
      try {
        const values = await Promise.all(keys.map((key) => connection.redis.get(key)));
        return values.map((value) => value ?? '');
      } catch {
        return undefined;
      }
    },
    /**
     * Announces a change after it was stored. If Redis is unavailable, waits until all cached
     * entries have expired, so that the change is in effect when the caller answers.
     */
    async bump(keys: string[]): Promise<void> {
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
