// Directory versions: every change of a partner or of a business account writes a new random version, and
// a cache that holds an answer of another version asks again. A random value rather than a counter, so that
// a Redis that lost its memory cannot repeat an old one.
import { randomBytes } from 'node:crypto';
import { pause } from '../lifecycle';
import type { Logger } from '../telemetry';
import type { RedisConnection } from '../redis/open';

/** A cached answer is never older than this, whatever the versions say. */
export const CACHE_LIFE_MS = 3_000;
/** With Redis away nothing announces a change, so that answers live shorter. */
export const CACHE_LIFE_ALONE_MS = 1_000;
/** Versions outlive every cache by far and do not pile up for partners that are gone. */
const VERSION_LIFE_S = 7 * 86_400;

export const partnerVersionKey = (partner_id: string): string => `bmg:{${partner_id}}:version`;
export const wabaVersionKey = (waba_id: string): string => `bmg:{w:${waba_id}}:version`;

export interface Versions {
  /** The current versions of the keys ('' for one that never changed); undefined while Redis is away. */
  current(keys: string[]): Promise<string[] | undefined>;
  /**
   * Announces a change after it was stored. When Redis cannot be told, waits until every cache must have
   * forgotten, so that "stopped at once" is true when the caller answers.
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
        log.warn({ err: error }, 'a directory change could not be announced, waiting for caches');
        await pause(CACHE_LIFE_MS);
      }
    },
  };
}
