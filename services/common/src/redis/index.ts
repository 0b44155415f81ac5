export { openRedis, type RedisConnection } from './open';
export {
  CACHE_LIFE_ALONE_MS,
  CACHE_LIFE_MS,
  createVersions,
  partnerVersionKey,
  wabaVersionKey,
  type Versions,
} from './versions';
export { CACHE_LIFE_AWAY_MS, createVersionedCache, type VersionedCache } from './versioned-cache';
